// Libraries in C: declarations as released, opaque where they are.
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <threads.h>

typedef struct { unsigned i[2]; } GMutex;
typedef struct { void *p; unsigned i[2]; } GRecMutex, GRWLock, GCond;
typedef struct _GThread GThread;
typedef struct _GThreadPool GThreadPool;
void g_mutex_lock(GMutex *); int g_mutex_trylock(GMutex *); void g_mutex_unlock(GMutex *);
void g_rec_mutex_lock(GRecMutex *); void g_rw_lock_reader_lock(GRWLock *); void g_rw_lock_writer_lock(GRWLock *);
void g_rw_lock_reader_unlock(GRWLock *); void g_cond_wait(GCond *, GMutex *); void g_cond_signal(GCond *);
GThread *g_thread_new(const char *, void *(*)(void *), void *); void *g_thread_join(GThread *);
GThreadPool *g_thread_pool_new(void (*)(void *, void *), void *, int, int, void **);
unsigned g_idle_add(int (*)(void *), void *); unsigned g_timeout_add(unsigned, int (*)(void *), void *);
int g_mutex_check(GMutex *);
static GMutex gmutex; static GRecMutex grec; static GRWLock grw; static GCond gcond;

typedef pthread_mutex_t uv_mutex_t; typedef pthread_rwlock_t uv_rwlock_t; typedef pthread_cond_t uv_cond_t;
typedef struct uv_loop_s uv_loop_t; typedef struct { void *data; } uv_work_t; typedef struct { void *data; } uv_timer_t;
void uv_mutex_lock(uv_mutex_t *); int uv_mutex_trylock(uv_mutex_t *); void uv_rwlock_rdlock(uv_rwlock_t *);
void uv_rwlock_rdunlock(uv_rwlock_t *); void uv_cond_wait(uv_cond_t *, uv_mutex_t *); int uv_thread_join(pthread_t *);
int uv_thread_create(pthread_t *, void (*)(void *), void *);
int uv_queue_work(uv_loop_t *, uv_work_t *, void (*)(uv_work_t *), void (*)(uv_work_t *, int));
int uv_timer_start(uv_timer_t *, void (*)(uv_timer_t *), unsigned long, unsigned long);
static uv_mutex_t uvmutex; static uv_rwlock_t uvrw; static uv_cond_t uvcond; static uv_work_t request; static uv_timer_t timer;

struct event { long e[16]; }; struct event_base; struct bufferevent;
int event_assign(struct event *, struct event_base *, int, short, void (*)(int, short, void *), void *);
struct event *event_new(struct event_base *, int, short, void (*)(int, short, void *), void *);
void bufferevent_setcb(struct bufferevent *, void (*)(struct bufferevent *, void *), void (*)(struct bufferevent *, void *),
                       void (*)(struct bufferevent *, short, void *), void *);
static struct event event;

typedef void CRYPTO_RWLOCK;
int CRYPTO_THREAD_read_lock(CRYPTO_RWLOCK *); int CRYPTO_THREAD_write_lock(CRYPTO_RWLOCK *);
int CRYPTO_THREAD_unlock(CRYPTO_RWLOCK *); int CRYPTO_atomic_add(int *, int, int *, CRYPTO_RWLOCK *);
static long crypto[7];

typedef struct apr_thread_mutex_t { long m[6]; } apr_thread_mutex_t; typedef struct apr_thread_rwlock_t { long m[8]; } apr_thread_rwlock_t;
int apr_thread_mutex_lock(apr_thread_mutex_t *); int apr_thread_mutex_trylock(apr_thread_mutex_t *);
int apr_thread_rwlock_rdlock(apr_thread_rwlock_t *); int apr_thread_mutex_unlock(apr_thread_mutex_t *);
typedef struct apr_thread_t apr_thread_t;
int apr_thread_create(apr_thread_t **, void *, void *(*)(apr_thread_t *, void *), void *, void *);
static apr_thread_mutex_t aprmutex; static apr_thread_rwlock_t aprrw;

typedef struct PRLock { long l[8]; } PRLock; typedef struct PRMonitor { long m[20]; } PRMonitor;
void PR_Lock(PRLock *); int PR_Unlock(PRLock *); void PR_EnterMonitor(PRMonitor *); void PR_AssertCurrentThreadOwnsLock(PRLock *);
void *PR_CreateThread(int, void (*)(void *), void *, int, int, int, unsigned);
static PRLock prlock; static PRMonitor prmonitor;

typedef struct { long ticks; } k_timeout_t; struct k_mutex { void *q[2]; void *owner; unsigned count; int prio; };
struct k_spinlock { long locked; }; typedef struct { int key; } k_spinlock_key_t; struct k_thread { long t[20]; };
struct k_sem { void *q[2]; unsigned count, limit; }; struct k_condvar { void *q[2]; };
int k_mutex_lock(struct k_mutex *, k_timeout_t); int k_mutex_unlock(struct k_mutex *);
k_spinlock_key_t k_spin_lock(struct k_spinlock *); int k_spin_trylock(struct k_spinlock *, k_spinlock_key_t *);
void k_spin_unlock(struct k_spinlock *, k_spinlock_key_t); int k_spin_is_locked(struct k_spinlock *);
void z_impl_k_sem_give(struct k_sem *); int k_condvar_wait(struct k_condvar *, struct k_mutex *, k_timeout_t);
void *k_thread_create(struct k_thread *, void *, unsigned long, void (*)(void *, void *, void *), void *, void *, void *, int,
                      unsigned, k_timeout_t);
int k_thread_join(struct k_thread *, k_timeout_t);
static struct k_mutex kmutex; static struct k_spinlock kspin; static struct k_sem ksem; static struct k_condvar kcondvar;
static struct k_thread kthread; static k_timeout_t forever; static k_spinlock_key_t kkey;

typedef struct SDL_mutex { long m[5]; } SDL_mutex;
int SDL_LockMutex(SDL_mutex *); void *SDL_CreateThread(int (*)(void *), const char *, void *);
static SDL_mutex sdl;

typedef struct { int i; } omp_lock_t;
void omp_set_lock(omp_lock_t *); int omp_test_lock(omp_lock_t *); void omp_unset_lock(omp_lock_t *);
void GOMP_parallel(void (*)(void *), void *, unsigned, unsigned); void __kmpc_fork_call(void *, int, void (*)(int *, int *, ...), ...);
void dispatch_async_f(void *, void *, void (*)(void *));
static omp_lock_t omp;

typedef struct { unsigned short tranche; unsigned state; long waiters; } LWLock;
int LWLockAcquire(LWLock *, int); int LWLockConditionalAcquire(LWLock *, int); void LWLockRelease(LWLock *);
int LWLockHeldByMe(LWLock *);
static LWLock lwlock;

static pthread_mutex_t mutex; static pthread_rwlock_t rw; static pthread_spinlock_t spin; static pthread_cond_t cond;
static pthread_barrier_t barrier; static pthread_once_t once; static sem_t sem; static mtx_t mtx; static cnd_t cnd;
static pthread_t thread; static thrd_t c11;
void *entry(void *a) { return a; }
int c11_entry(void *a) { return !a; }
void plain_entry(void *a) { (void)a; }
void prepare(void) {}
void pool_entry(void *a, void *b) { (void)a; (void)b; }
int idle(void *a) { return !a; }
void k_entry(void *a, void *b, void *c) { (void)a; (void)b; (void)c; }
void on_work(uv_work_t *w) { (void)w; }
void after_work(uv_work_t *w, int s) { (void)w; (void)s; }
void on_timer(uv_timer_t *t) { (void)t; }
void on_event(int fd, short what, void *a) { (void)fd; (void)what; (void)a; }
void on_read(struct bufferevent *b, void *a) { (void)b; (void)a; }
void on_error(struct bufferevent *b, short what, void *a) { (void)b; (void)what; (void)a; }
void *apr_entry(apr_thread_t *t, void *a) { (void)t; return a; }
void team(int *a, int *b, ...) { (void)a; (void)b; }

void posix_lock(void) { pthread_mutex_lock(&mutex); }          // lock pthread_mutex_t
void posix_try(void) { pthread_mutex_trylock(&mutex); }        // try pthread_mutex_t
void posix_timed(void) { pthread_mutex_timedlock(&mutex, 0); } // try pthread_mutex_t
void posix_unlock(void) { pthread_mutex_unlock(&mutex); }      // unlock pthread_mutex_t
void posix_init(void) { pthread_mutex_init(&mutex, 0); }       // init pthread_mutex_t
void posix_read(void) { pthread_rwlock_rdlock(&rw); }          // lock shared pthread_rwlock_t
void posix_write(void) { pthread_rwlock_wrlock(&rw); }         // lock pthread_rwlock_t
void posix_spin(void) { pthread_spin_lock(&spin); }            // lock pthread_spinlock_t
void posix_wait(void) { pthread_cond_wait(&cond, &mutex); }    // wait pthread_cond_t, wait pthread_mutex_t
void posix_wait_for(void) { pthread_cond_timedwait(&cond, &mutex, 0); } // timedwait pthread_cond_t, timedwait pthread_mutex_t
void posix_signal(void) { pthread_cond_signal(&cond); }        // lock pthread_cond_t
void posix_barrier(void) { pthread_barrier_wait(&barrier); }   // lock pthread_barrier_t
void posix_post(void) { sem_post(&sem); }                      // lock sem_t
void posix_start(void) { pthread_create(&thread, 0, entry, &mutex); } // start entry
void posix_join(void) { pthread_join(thread, 0); }             // join
void posix_once(void) { pthread_once(&once, prepare); }        // init pthread_once_t, once prepare
void posix_self(void) { (void)pthread_self(); }                // nothing
void posix_value(int *v) { sem_getvalue(&sem, v); }            // nothing
void c11_lock(void) { mtx_lock(&mtx); }                        // lock mtx_t
void c11_try(void) { mtx_trylock(&mtx); }                      // try mtx_t
void c11_wait(void) { cnd_wait(&cnd, &mtx); }                  // wait cnd_t, wait mtx_t
void c11_start(void) { thrd_create(&c11, c11_entry, 0); }      // start c11_entry
void c11_join(void) { thrd_join(c11, 0); }                     // join
void glib_lock(void) { g_mutex_lock(&gmutex); }                // lock GMutex
void glib_try(void) { (void)g_mutex_trylock(&gmutex); }        // try GMutex
void glib_unlock(void) { g_mutex_unlock(&gmutex); }            // unlock GMutex
void glib_recursive(void) { g_rec_mutex_lock(&grec); }         // lock GRecMutex
void glib_read(void) { g_rw_lock_reader_lock(&grw); }          // lock shared GRWLock
void glib_read_done(void) { g_rw_lock_reader_unlock(&grw); }   // unlock shared GRWLock
void glib_write(void) { g_rw_lock_writer_lock(&grw); }         // lock GRWLock
void glib_wait(void) { g_cond_wait(&gcond, &gmutex); }         // wait GCond, wait GMutex
void glib_start(void) { g_thread_new("", entry, 0); }          // start entry
void glib_pool(void) { g_thread_pool_new(pool_entry, &gmutex, 4, 0, 0); } // start pool_entry many
void glib_join(GThread *t) { g_thread_join(t); }               // join
void glib_idle(void) { g_idle_add(idle, 0); }                  // loop idle
void glib_timer(void) { g_timeout_add(9, idle, 0); }           // loop idle
void glib_check(void) { g_mutex_check(&gmutex); }              // nothing
void uv_lock(void) { uv_mutex_lock(&uvmutex); }                // lock uv_mutex_t
void uv_try(void) { uv_mutex_trylock(&uvmutex); }              // try uv_mutex_t
void uv_read(void) { uv_rwlock_rdlock(&uvrw); }                // lock shared uv_rwlock_t
void uv_read_done(void) { uv_rwlock_rdunlock(&uvrw); }         // unlock shared uv_rwlock_t
void uv_wait(void) { uv_cond_wait(&uvcond, &uvmutex); }        // wait uv_cond_t, wait uv_mutex_t
void uv_start(void) { uv_thread_create(&thread, plain_entry, 0); } // start plain_entry
void uv_queue(uv_loop_t *l) { uv_queue_work(l, &request, on_work, after_work); } // start on_work many, loop after_work
void uv_timer(void) { uv_timer_start(&timer, on_timer, 1, 1); } // loop on_timer
void uv_join(void) { uv_thread_join(&thread); }                // join
void ev_assign(struct event_base *b) { event_assign(&event, b, 3, 2, on_event, 0); } // loop on_event
void ev_new(struct event_base *b) { event_new(b, 3, 2, on_event, 0); } // loop on_event
void ev_buffer(struct bufferevent *b) { bufferevent_setcb(b, on_read, 0, on_error, 0); } // loop on_error, loop on_read
void ssl_read(void) { CRYPTO_THREAD_read_lock(crypto); }       // lock shared CRYPTO_RWLOCK
void ssl_write(void) { CRYPTO_THREAD_write_lock(crypto); }     // lock CRYPTO_RWLOCK
void ssl_unlock(void) { CRYPTO_THREAD_unlock(crypto); }        // unlock CRYPTO_RWLOCK
void ssl_add(int *v, int *r) { CRYPTO_atomic_add(v, 1, r, crypto); } // nothing
void apr_lock(void) { apr_thread_mutex_lock(&aprmutex); }      // lock apr_thread_mutex_t
void apr_try(void) { apr_thread_mutex_trylock(&aprmutex); }    // try apr_thread_mutex_t
void apr_read(void) { apr_thread_rwlock_rdlock(&aprrw); }      // lock shared apr_thread_rwlock_t
void apr_start(apr_thread_t **t) { apr_thread_create(t, 0, apr_entry, 0, 0); } // start apr_entry
void nspr_lock(void) { PR_Lock(&prlock); }                     // lock PRLock
void nspr_unlock(void) { PR_Unlock(&prlock); }                 // unlock PRLock
void nspr_monitor(void) { PR_EnterMonitor(&prmonitor); }       // lock PRMonitor
void nspr_start(void) { PR_CreateThread(0, plain_entry, 0, 0, 0, 0, 0); } // start plain_entry
void nspr_assert(void) { PR_AssertCurrentThreadOwnsLock(&prlock); } // nothing
void sdl_lock(void) { SDL_LockMutex(&sdl); }                   // lock SDL_mutex
void sdl_start(void) { SDL_CreateThread(c11_entry, "", 0); }   // start c11_entry
void omp_lock(void) { omp_set_lock(&omp); }                    // lock omp_lock_t
void omp_try(void) { (void)omp_test_lock(&omp); }              // try omp_lock_t
void omp_region(void) { GOMP_parallel(plain_entry, 0, 0, 0); } // start plain_entry many
void omp_fork(void) { __kmpc_fork_call(0, 0, team); }          // start team many
void dispatches(void *q) { dispatch_async_f(q, 0, plain_entry); } // start plain_entry many
void pg_lock(void) { LWLockAcquire(&lwlock, 0); }              // lock LWLock
void pg_try(void) { LWLockConditionalAcquire(&lwlock, 0); }    // try LWLock
void pg_unlock(void) { LWLockRelease(&lwlock); }               // unlock LWLock
void pg_asks(void) { LWLockHeldByMe(&lwlock); }                // nothing
void zephyr_lock(void) { k_mutex_lock(&kmutex, forever); }     // lock k_mutex
void zephyr_unlock(void) { k_mutex_unlock(&kmutex); }          // unlock k_mutex
void zephyr_spin(void) { kkey = k_spin_lock(&kspin); }         // lock k_spinlock
void zephyr_try(void) { k_spin_trylock(&kspin, &kkey); }       // try k_spinlock
void zephyr_spin_done(void) { k_spin_unlock(&kspin, kkey); }   // unlock k_spinlock
void zephyr_asks(void) { k_spin_is_locked(&kspin); }           // nothing
void zephyr_give(void) { z_impl_k_sem_give(&ksem); }           // lock k_sem
void zephyr_wait(void) { k_condvar_wait(&kcondvar, &kmutex, forever); } // wait k_condvar, wait k_mutex
void zephyr_start(void) { k_thread_create(&kthread, 0, 0, k_entry, 0, 0, 0, 0, 0, forever); } // start k_entry
void zephyr_join(void) { k_thread_join(&kthread, forever); }   // join
