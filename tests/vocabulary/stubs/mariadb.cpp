// MariaDB: InnoDB's latches are templates, the server's mutexes C structures.
extern "C" {
struct st_mysql_mutex { long m_mutex[5]; void *m_psi; };
typedef struct st_mysql_mutex mysql_mutex_t;
int psi_mutex_lock(mysql_mutex_t *, const char *, unsigned);
int psi_mutex_trylock(mysql_mutex_t *, const char *, unsigned);
int psi_mutex_unlock(mysql_mutex_t *);
struct rw_pr_lock_t { long lock[12]; };
int rw_pr_rdlock(struct rw_pr_lock_t *);
int rw_pr_unlock(struct rw_pr_lock_t *);
}
template <bool Spinloop> class srw_mutex_impl {
  unsigned lock = 0;
public:
  void wr_lock(); void wr_unlock(); bool wr_lock_try(); void wait(unsigned);
};
template <bool Spinloop> class ssux_lock_impl {
  unsigned lock = 0;
public:
  void rd_lock(); void rd_unlock(); void wr_lock(); void wr_unlock(); bool have_wr() const;
};
class srw_lock {
  unsigned lock = 0;
public:
  void rd_lock(); void wr_lock(); bool rd_lock_try();
};

mysql_mutex_t lock_open;
rw_pr_lock_t prlock;
srw_mutex_impl<true> mutex_impl;
ssux_lock_impl<false> ssux;
srw_lock srw;

void takes() { psi_mutex_lock(&lock_open, "", 1); }        // lock mysql_mutex_t
void tries() { psi_mutex_trylock(&lock_open, "", 1); }     // try mysql_mutex_t
void drops() { psi_mutex_unlock(&lock_open); }             // unlock mysql_mutex_t
void reads() { rw_pr_rdlock(&prlock); }                    // lock shared mysql_rwlock_t
void latches() { mutex_impl.wr_lock(); }                   // lock srw_lock
void reads_page() { ssux.rd_lock(); }                      // lock shared srw_lock
void reads_page_no_more() { ssux.rd_unlock(); }            // unlock shared srw_lock
void writes_page() { ssux.wr_lock(); }                     // lock srw_lock
void tries_reading() { (void)srw.rd_lock_try(); }          // try shared srw_lock
void has() { (void)ssux.have_wr(); }                       // nothing
void waits() { mutex_impl.wait(1); }                       // nothing
