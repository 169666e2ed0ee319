// The Linux kernel's locks, out of line.
typedef struct { unsigned val; } spinlock_t;
typedef struct { unsigned long cnts; } rwlock_t;
struct mutex { long owner; int wait_lock; void *wait_list[2]; };
struct rw_semaphore { long count, owner; int osq, wait_lock; void *wait_list[2]; };
struct semaphore { int lock; unsigned count; void *wait_list[2]; };
struct completion { unsigned done; void *wait[3]; };
void _raw_spin_lock(spinlock_t *); unsigned long _raw_spin_lock_irqsave(spinlock_t *); int _raw_spin_trylock(spinlock_t *);
void _raw_spin_unlock(spinlock_t *); void _raw_read_lock(rwlock_t *); void _raw_read_unlock(rwlock_t *);
void mutex_lock(struct mutex *); int mutex_lock_interruptible(struct mutex *); int mutex_trylock(struct mutex *);
void mutex_unlock(struct mutex *); int mutex_is_locked(struct mutex *);
void down_read(struct rw_semaphore *); void up_read(struct rw_semaphore *); void down_write(struct rw_semaphore *);
void down(struct semaphore *); int down_trylock(struct semaphore *); void up(struct semaphore *);
void complete(struct completion *); void wait_for_completion(struct completion *);
void *kthread_create_on_node(int (*)(void *), void *, int, const char *, ...);
struct timer_list { void *t[5]; };
void timer_setup(struct timer_list *, void (*)(struct timer_list *), unsigned);

spinlock_t spin;
rwlock_t rw;
struct mutex m;
struct rw_semaphore sem;
struct semaphore counted;
struct completion done;
struct timer_list timer;
int entry(void *a) { return !a; }
void expire(struct timer_list *t) { (void)t; }

void spins(void) { _raw_spin_lock(&spin); }                // lock raw_spinlock_t
void saves(void) { _raw_spin_lock_irqsave(&spin); }        // lock raw_spinlock_t
void spins_try(void) { _raw_spin_trylock(&spin); }         // try raw_spinlock_t
void spins_no_more(void) { _raw_spin_unlock(&spin); }      // unlock raw_spinlock_t
void reads(void) { _raw_read_lock(&rw); }                  // lock shared rwlock_t
void reads_no_more(void) { _raw_read_unlock(&rw); }        // unlock shared rwlock_t
void takes(void) { mutex_lock(&m); }                       // lock struct mutex
void takes_unless_killed(void) { mutex_lock_interruptible(&m); } // try struct mutex
void tries(void) { mutex_trylock(&m); }                    // try struct mutex
void drops(void) { mutex_unlock(&m); }                     // unlock struct mutex
void asks(void) { mutex_is_locked(&m); }                   // nothing
void downs(void) { down_read(&sem); }                      // lock shared struct rw_semaphore
void ups(void) { up_read(&sem); }                          // unlock shared struct rw_semaphore
void writes(void) { down_write(&sem); }                    // lock struct rw_semaphore
void counts(void) { down(&counted); }                      // lock struct semaphore
void counts_up(void) { up(&counted); }                     // unlock struct semaphore
void finishes(void) { complete(&done); }                   // lock completion
void listens(void) { wait_for_completion(&done); }         // wait completion
void starts(void) { kthread_create_on_node(entry, 0, 0, ""); } // start entry
void sets(void) { timer_setup(&timer, expire, 0); }        // start expire
