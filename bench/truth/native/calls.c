// What an instrumented program calls: before each access, by the compiler; for
// locks and copies of memory, by the linker's --wrap; and for the heap.
//
// What the compiler calls is declared nowhere: it knows it.  Nothing is counted
// here, counter.c does that.
#define _GNU_SOURCE
#include "counter.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>

#define HERE __builtin_return_address(0)
// A second place of the same call.
#define ALSO_HERE ((char *)HERE - 1)

// -- the heap ---------------------------------------------------------------

void *malloc(size_t size) {
  return counter_made(__libc_malloc(size), size, HERE);
}

void *calloc(size_t count, size_t size) {
  return counter_made(__libc_calloc(count, size), count * size, HERE);
}

void *realloc(void *old, size_t size) {
  return counter_made(__libc_realloc(old, size), size, HERE);
}

void *memalign(size_t alignment, size_t size) {
  return counter_made(__libc_memalign(alignment, size), size, HERE);
}

void *aligned_alloc(size_t alignment, size_t size) {
  return counter_made(__libc_memalign(alignment, size), size, HERE);
}

int posix_memalign(void **into, size_t alignment, size_t size) {
  void *at = counter_made(__libc_memalign(alignment, size), size, HERE);
  if (!at)
    return ENOMEM;
  *into = at;
  return 0;
}

void free(void *at) { __libc_free(at); }

// -- what the compiler calls ------------------------------------------------

void __tsan_init(void) {}
void __tsan_func_entry(void *caller) { (void)caller; }
void __tsan_func_exit(void) {}

#define PLAIN(name, kind, size)                                                \
  void __tsan_##name(void *at) { counter_access(HERE, at, size, kind); }

#define SIZED(n)                                                               \
  PLAIN(read##n, READ, n)                                                      \
  PLAIN(write##n, WRITE, n)                                                    \
  PLAIN(unaligned_read##n, READ, n)                                            \
  PLAIN(unaligned_write##n, WRITE, n)                                          \
  PLAIN(read_write##n, UPDATE, n)                                              \
  PLAIN(unaligned_read_write##n, UPDATE, n)                                    \
  PLAIN(volatile_read##n, READ, n)                                             \
  PLAIN(volatile_write##n, WRITE, n)                                           \
  PLAIN(unaligned_volatile_read##n, READ, n)                                   \
  PLAIN(unaligned_volatile_write##n, WRITE, n)

SIZED(1)
SIZED(2)
SIZED(4)
SIZED(8)
SIZED(16)

void __tsan_read_range(void *at, size_t size) {
  counter_access(HERE, at, size, READ);
}
void __tsan_write_range(void *at, size_t size) {
  counter_access(HERE, at, size, WRITE);
}
void __tsan_vptr_read(void **at) { counter_access(HERE, at, sizeof *at, READ); }
void __tsan_vptr_update(void **at, void *value) {
  if (*at != value)
    counter_access(HERE, at, sizeof *at, WRITE);
}

// As the compiler calls them, and as the linker leads them here.
#define COPIES(prefix)                                                         \
  void *prefix##memcpy(void *to, const void *from, size_t size) {              \
    counter_access(HERE, from, size, READ);                                    \
    counter_access(ALSO_HERE, to, size, WRITE);                                \
    return __real_memcpy(to, from, size);                                      \
  }                                                                            \
  void *prefix##memmove(void *to, const void *from, size_t size) {             \
    counter_access(HERE, from, size, READ);                                    \
    counter_access(ALSO_HERE, to, size, WRITE);                                \
    return __real_memmove(to, from, size);                                     \
  }                                                                            \
  void *prefix##memset(void *to, int value, size_t size) {                     \
    counter_access(HERE, to, size, WRITE);                                     \
    return __real_memset(to, value, size);                                     \
  }

COPIES(__tsan_)

void __tsan_atomic_thread_fence(int order) {
  (void)order;
  atomic_thread_fence(memory_order_seq_cst);
}
void __tsan_atomic_signal_fence(int order) { (void)order; }

#define CHANGE(bits, type, name, builtin)                                      \
  type __tsan_atomic##bits##_##name(volatile type *at, type value,             \
                                    int order) {                               \
    (void)order;                                                               \
    counter_access(HERE, at, sizeof *at, UPDATE);                              \
    return builtin(at, value, __ATOMIC_SEQ_CST);                               \
  }

#define EXCHANGE(bits, type, name)                                             \
  int __tsan_atomic##bits##_##name(volatile type *at, type *expected,          \
                                   type value, int order, int failure) {       \
    (void)order, (void)failure;                                                \
    counter_access(HERE, at, sizeof *at, UPDATE);                              \
    return __atomic_compare_exchange_n(at, expected, value, false,             \
                                       __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);    \
  }

#define ATOMIC(bits, type)                                                     \
  type __tsan_atomic##bits##_load(const volatile type *at, int order) {        \
    (void)order;                                                               \
    counter_access(HERE, at, sizeof *at, READ);                                \
    return __atomic_load_n(at, __ATOMIC_SEQ_CST);                              \
  }                                                                            \
  void __tsan_atomic##bits##_store(volatile type *at, type value, int order) { \
    (void)order;                                                               \
    counter_access(HERE, at, sizeof *at, WRITE);                               \
    __atomic_store_n(at, value, __ATOMIC_SEQ_CST);                             \
  }                                                                            \
  CHANGE(bits, type, exchange, __atomic_exchange_n)                            \
  CHANGE(bits, type, fetch_add, __atomic_fetch_add)                            \
  CHANGE(bits, type, fetch_sub, __atomic_fetch_sub)                            \
  CHANGE(bits, type, fetch_and, __atomic_fetch_and)                            \
  CHANGE(bits, type, fetch_or, __atomic_fetch_or)                              \
  CHANGE(bits, type, fetch_xor, __atomic_fetch_xor)                            \
  CHANGE(bits, type, fetch_nand, __atomic_fetch_nand)                          \
  EXCHANGE(bits, type, compare_exchange_strong)                                \
  EXCHANGE(bits, type, compare_exchange_weak)                                  \
  type __tsan_atomic##bits##_compare_exchange_val(                             \
      volatile type *at, type expected, type value, int order, int failure) {  \
    (void)order, (void)failure;                                                \
    counter_access(HERE, at, sizeof *at, UPDATE);                              \
    __atomic_compare_exchange_n(at, &expected, value, false, __ATOMIC_SEQ_CST, \
                                __ATOMIC_SEQ_CST);                             \
    return expected;                                                           \
  }

ATOMIC(8, uint8_t)
ATOMIC(16, uint16_t)
ATOMIC(32, uint32_t)
ATOMIC(64, uint64_t)

// -- what the linker leads here ---------------------------------------------

// Bytes of glibc's objects that an operation writes.
enum { MUTEX = 20, CONDITION = 48, RWLOCK = 28, SPIN = 4, SEMAPHORE = 16 };

#define WRAPPED1(name, type, bytes)                                            \
  int __real_##name(type *at);                                                 \
  int __wrap_##name(type *at) {                                                \
    counter_access(HERE, (void *)at, bytes, UPDATE);                           \
    return __real_##name(at);                                                  \
  }

WRAPPED1(pthread_mutex_lock, pthread_mutex_t, MUTEX)
WRAPPED1(pthread_mutex_trylock, pthread_mutex_t, MUTEX)
WRAPPED1(pthread_mutex_unlock, pthread_mutex_t, MUTEX)
WRAPPED1(pthread_cond_signal, pthread_cond_t, CONDITION)
WRAPPED1(pthread_cond_broadcast, pthread_cond_t, CONDITION)
WRAPPED1(pthread_rwlock_rdlock, pthread_rwlock_t, RWLOCK)
WRAPPED1(pthread_rwlock_wrlock, pthread_rwlock_t, RWLOCK)
WRAPPED1(pthread_rwlock_tryrdlock, pthread_rwlock_t, RWLOCK)
WRAPPED1(pthread_rwlock_trywrlock, pthread_rwlock_t, RWLOCK)
WRAPPED1(pthread_rwlock_unlock, pthread_rwlock_t, RWLOCK)
WRAPPED1(pthread_spin_lock, pthread_spinlock_t, SPIN)
WRAPPED1(pthread_spin_trylock, pthread_spinlock_t, SPIN)
WRAPPED1(pthread_spin_unlock, pthread_spinlock_t, SPIN)
WRAPPED1(sem_wait, sem_t, SEMAPHORE)
WRAPPED1(sem_trywait, sem_t, SEMAPHORE)
WRAPPED1(sem_post, sem_t, SEMAPHORE)

int __real_pthread_cond_wait(pthread_cond_t *, pthread_mutex_t *);
int __wrap_pthread_cond_wait(pthread_cond_t *at, pthread_mutex_t *mutex) {
  counter_access(HERE, at, CONDITION, UPDATE);
  counter_access(ALSO_HERE, mutex, MUTEX, UPDATE);
  int done = __real_pthread_cond_wait(at, mutex);
  counter_access(HERE, at, CONDITION, UPDATE);
  counter_access(ALSO_HERE, mutex, MUTEX, UPDATE);
  return done;
}

int __real_pthread_cond_timedwait(pthread_cond_t *, pthread_mutex_t *,
                                  const struct timespec *);
int __wrap_pthread_cond_timedwait(pthread_cond_t *at, pthread_mutex_t *mutex,
                                  const struct timespec *until) {
  counter_access(HERE, at, CONDITION, UPDATE);
  counter_access(ALSO_HERE, mutex, MUTEX, UPDATE);
  int done = __real_pthread_cond_timedwait(at, mutex, until);
  counter_access(HERE, at, CONDITION, UPDATE);
  counter_access(ALSO_HERE, mutex, MUTEX, UPDATE);
  return done;
}

COPIES(__wrap_)
