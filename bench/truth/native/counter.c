// Counts every access of an instrumented program by thread, and the transfers
// of lines that follow: the run-time behind -fsanitize=thread, which is only
// used for its calls before each access, and not for its detection of races.
//
// A line of 64 bytes that two threads use has, for each thread, the bytes that
// others wrote since it last had the line.  An access where there are such
// bytes is a transfer; it was needed if the thread then uses one of them before
// it loses the line again, else separate lines would have spared it.  Bytes of
// a new object of the heap belong to nobody.
//
// What is called by instrumented code is declared nowhere: the compiler knows
// it.  Locks and copies of memory come by the linker's --wrap.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
  LINE = 64,
  THREADS = 24,          // more share the last number
  SEEN = 8,              // places in the code of one stay of a line in a core
  CODE_BYTES = 64 << 20, // of the program that is counted
  SITES = 1 << 17,
  PAIRS = 1 << 18,
  OBJECTS = 1 << 24,
  LEAF_BITS = 22, // addresses below one entry of the map
  ADDRESS_BITS = 47,
  POLL_US = 20000,
};

typedef uint64_t Bytes; // one bit a byte of a line

enum Kind { READ, WRITE, UPDATE };

typedef struct {
  uint32_t site;
  uint8_t byte;
} Touch;

// One thread and one line.
typedef struct {
  Bytes stale; // written by others since this thread had the line
  Bytes lost;  // what was stale when it came
  Bytes used;  // since then
  Touch uses[SEEN], from[SEEN];
  uint8_t uses_count, from_count;
} Stay;

typedef struct Detail {
  Stay stays[THREADS];
  uint32_t writer[LINE];
  struct Detail *next;
} Detail;

typedef struct {
  Bytes written; // by the owner, while there is no second thread
  uint32_t detail;
  uint8_t owner; // + 1, 0 nobody
  atomic_uchar lock;
} Line;

typedef struct {
  Line lines[(1 << LEAF_BITS) / LINE];
  uint32_t objects[(1 << LEAF_BITS) / 16];
} Leaf;

typedef struct {
  uintptr_t start;
  size_t size;
  uint32_t site;
} Object;

typedef struct {
  uint32_t use, from, allocation;
  int8_t distance;
  bool same_object, used;
  uint64_t needed, vain;
} Pair;

typedef struct {
  uint32_t offset; // in the program, of the instruction behind the call
  uint32_t size;
  uint8_t kind;
} Site;

static Leaf **map;
static Detail *details;
static atomic_uint detail_count;
static Detail *free_details;
static Object *objects;
static atomic_uint object_count;
static atomic_uint *site_of; // by offset in the code
static Site *sites;
static atomic_uint site_count;
static Pair *pairs;
static atomic_flag pairs_lock = ATOMIC_FLAG_INIT;
static atomic_flag map_lock = ATOMIC_FLAG_INIT;
static uint64_t *counts[THREADS];
static atomic_uint thread_count;
static uintptr_t code_start, code_end, load_base;
static atomic_bool on;
static atomic_ulong lost_pairs, transfers;
static pid_t counted_process;
static char out_path[4096]; // a copy: programs write over their environment
static bool steady;

static __thread int my_number = -1;
static __thread bool busy;

void *__real_memcpy(void *, const void *, size_t);
void *__real_memmove(void *, const void *, size_t);
void *__real_memset(void *, int, size_t);
int __real_pthread_create(pthread_t *, const pthread_attr_t *,
                          void *(*)(void *), void *);
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
void __libc_free(void *);

static void *zeroed(size_t size) {
  void *at = mmap(NULL, size, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED)
    abort();
  return at;
}

static void take(atomic_flag *lock) {
  for (int tries = 0; atomic_flag_test_and_set(lock); tries++)
    if (tries > 50)
      sched_yield();
}

static void give(atomic_flag *lock) { atomic_flag_clear(lock); }

static void lock_line(Line *line) {
  for (int tries = 0; atomic_exchange(&line->lock, 1); tries++)
    if (tries > 50)
      sched_yield();
}

static void unlock_line(Line *line) { atomic_store(&line->lock, 0); }

static int number(void) {
  if (my_number < 0) {
    unsigned given = atomic_fetch_add(&thread_count, 1);
    my_number = given < THREADS ? (int)given : THREADS - 1;
  }
  return my_number;
}

static Leaf *leaf_of(uintptr_t address, bool make) {
  uintptr_t at = address >> LEAF_BITS;
  if (at >> (ADDRESS_BITS - LEAF_BITS))
    return NULL;
  Leaf *leaf = __atomic_load_n(&map[at], __ATOMIC_ACQUIRE);
  if (leaf || !make)
    return leaf;
  take(&map_lock);
  leaf = map[at];
  if (!leaf) {
    leaf = zeroed(sizeof *leaf);
    __atomic_store_n(&map[at], leaf, __ATOMIC_RELEASE);
  }
  give(&map_lock);
  return leaf;
}

static uint32_t *object_at(Leaf *leaf, uintptr_t address) {
  return &leaf->objects[(address & ((1u << LEAF_BITS) - 1)) / 16];
}

static Line *line_at(Leaf *leaf, uintptr_t address) {
  return &leaf->lines[(address & ((1u << LEAF_BITS) - 1)) / LINE];
}

// The number of a place in the code, from 1.
static uint32_t site(uintptr_t at, enum Kind kind, size_t size) {
  if (at < code_start || at >= code_end)
    return 0;
  atomic_uint *slot = &site_of[at - code_start];
  unsigned known = atomic_load_explicit(slot, memory_order_relaxed);
  if (known)
    return known;
  take(&map_lock);
  known = atomic_load(slot);
  if (!known && site_count + 1 < SITES) {
    known = ++site_count;
    sites[known] = (Site){(uint32_t)(at - load_base), (uint32_t)size, kind};
    atomic_store(slot, known);
  }
  give(&map_lock);
  return known;
}

static void add_pair(Pair key, bool needed) {
  uint64_t hash = key.use * 0x9e3779b97f4a7c15u ^
                  key.from * 0xc2b2ae3d27d4eb4fu ^
                  key.allocation * 0x165667b19e3779f9u ^
                  (uint8_t)key.distance * 0x27d4eb2f165667c5u;
  hash ^= hash >> 29;
  for (int tries = 0; tries < 64; tries++) {
    Pair *at = &pairs[(hash + tries) & (PAIRS - 1)];
    if (!at->used) {
      *at = key;
      at->used = true;
    }
    if (at->use == key.use && at->from == key.from &&
        at->allocation == key.allocation && at->distance == key.distance &&
        at->same_object == key.same_object) {
      *(needed ? &at->needed : &at->vain) += 1;
      return;
    }
  }
  lost_pairs++;
}

// A thread loses a line, or it ends: what came of the transfer.
static void close_stay(Stay *stay, uintptr_t line, Leaf *leaf) {
  if (!stay->lost)
    return;
  bool needed = stay->lost & stay->used;
  take(&pairs_lock);
  transfers++;
  for (int u = 0; u < stay->uses_count; u++) {
    uint32_t mine = *object_at(leaf, line + stay->uses[u].byte);
    for (int f = 0; f < stay->from_count; f++) {
      uint32_t theirs = *object_at(leaf, line + stay->from[f].byte);
      int distance = stay->from[f].byte - stay->uses[u].byte;
      add_pair((Pair){stay->uses[u].site, stay->from[f].site,
                      objects[mine].site, (int8_t)distance, mine == theirs,
                      false, 0, 0},
               needed);
    }
  }
  give(&pairs_lock);
  stay->lost = 0;
}

// What is read and then written counts by the first place that names it.
static void remember(Touch *list, uint8_t *count, uint32_t site, int byte) {
  for (int at = 0; at < *count; at++)
    if (list[at].byte == byte)
      return;
  if (*count < SEEN)
    list[(*count)++] = (Touch){site, (uint8_t)byte};
}

static Detail *detail_of(Line *line) {
  if (line->detail)
    return &details[line->detail];
  Detail *made = NULL;
  take(&map_lock);
  if (free_details) {
    made = free_details;
    free_details = made->next;
  }
  give(&map_lock);
  if (made)
    __real_memset(made, 0, sizeof *made);
  else
    made = &details[++detail_count];
  line->detail = (uint32_t)(made - details);
  for (int t = 0; t < THREADS; t++)
    if (t != line->owner - 1)
      made->stays[t].stale = line->written;
  return made;
}

static void on_line(Leaf *leaf, uintptr_t start, Bytes bytes, int first,
                    uint32_t place, bool writes) {
  Line *line = line_at(leaf, start);
  int me = number();
  lock_line(line);
  if (!line->detail && (!line->owner || line->owner == me + 1)) {
    line->owner = (uint8_t)(me + 1);
    if (writes)
      line->written |= bytes;
    unlock_line(line);
    return;
  }
  Detail *detail = detail_of(line);
  Stay *mine = &detail->stays[me];
  if (mine->stale) {
    close_stay(mine, start, leaf);
    mine->lost = mine->stale;
    mine->stale = mine->used = 0;
    mine->uses_count = mine->from_count = 0;
    for (Bytes left = mine->lost; left; left &= left - 1) {
      int byte = __builtin_ctzll(left);
      uint32_t writer = detail->writer[byte];
      // The first byte that this place wrote stands for all behind it.
      if (!byte || detail->writer[byte - 1] != writer ||
          !(mine->lost >> (byte - 1) & 1))
        remember(mine->from, &mine->from_count, writer, byte);
    }
  }
  mine->used |= bytes;
  if (mine->lost)
    remember(mine->uses, &mine->uses_count, place, first);
  if (writes) {
    for (int t = 0; t < THREADS; t++)
      if (t != me)
        detail->stays[t].stale |= bytes;
    for (Bytes left = bytes; left; left &= left - 1)
      detail->writer[__builtin_ctzll(left)] = place;
  }
  unlock_line(line);
}

static void count_access(void *caller, const volatile void *at, size_t size,
                         enum Kind kind) {
  if (!atomic_load_explicit(&on, memory_order_relaxed) || busy || !size)
    return;
  busy = true;
  uint32_t place = site((uintptr_t)caller, kind, size);
  if (place) {
    counts[number()][place]++;
    uintptr_t address = (uintptr_t)at, end = address + size;
    while (address < end) {
      uintptr_t start = address & ~(uintptr_t)(LINE - 1);
      int first = (int)(address - start);
      int last = end - start < LINE ? (int)(end - start) : LINE;
      Leaf *leaf = leaf_of(start, true);
      Bytes bytes = last - first == LINE
                        ? ~(Bytes)0
                        : (((Bytes)1 << (last - first)) - 1) << first;
      if (leaf)
        on_line(leaf, start, bytes, first, place, kind != READ);
      address = start + LINE;
    }
  }
  busy = false;
}

#define HERE __builtin_return_address(0)
// A second place of the same call.
#define ALSO_HERE ((char *)HERE - 1)

// -- the heap ---------------------------------------------------------------

// Whoever has these bytes now, nobody wrote them before.
static void forget(uintptr_t start, size_t size, uint32_t object) {
  for (uintptr_t at = start & ~(uintptr_t)(LINE - 1); at < start + size;) {
    Leaf *leaf = leaf_of(at, object != 0);
    uintptr_t next = (at | (((uintptr_t)1 << LEAF_BITS) - 1)) + 1;
    if (!leaf) {
      at = next;
      continue;
    }
    for (; at < start + size && at < next; at += LINE) {
      int first = at < start ? (int)(start - at) : 0;
      int last = start + size - at < LINE ? (int)(start + size - at) : LINE;
      Bytes bytes = last - first == LINE
                        ? ~(Bytes)0
                        : (((Bytes)1 << (last - first)) - 1) << first;
      Line *line = line_at(leaf, at);
      lock_line(line);
      if (line->detail) {
        Detail *detail = &details[line->detail];
        for (int t = 0; t < THREADS; t++) {
          close_stay(&detail->stays[t], at, leaf);
          detail->stays[t].stale &= ~bytes;
        }
        if (!~bytes) {
          line->detail = 0;
          take(&map_lock);
          detail->next = free_details;
          free_details = detail;
          give(&map_lock);
        }
      }
      line->written &= ~bytes;
      if (!~bytes)
        line->owner = 0;
      unlock_line(line);
      for (int byte = first & ~15; byte < last; byte += 16)
        *object_at(leaf, at + byte) = object;
    }
  }
}

static void *made(void *at, size_t size, void *caller) {
  if (!at || !size || busy || !atomic_load_explicit(&on, memory_order_relaxed))
    return at;
  busy = true;
  unsigned object = ++object_count;
  if (object < OBJECTS) {
    objects[object] =
        (Object){(uintptr_t)at, size, site((uintptr_t)caller, UPDATE, size)};
    forget((uintptr_t)at, size, object);
  }
  busy = false;
  return at;
}

void *malloc(size_t size) { return made(__libc_malloc(size), size, HERE); }

void *calloc(size_t count, size_t size) {
  return made(__libc_calloc(count, size), count * size, HERE);
}

void *realloc(void *old, size_t size) {
  return made(__libc_realloc(old, size), size, HERE);
}

void *memalign(size_t alignment, size_t size) {
  return made(__libc_memalign(alignment, size), size, HERE);
}

void *aligned_alloc(size_t alignment, size_t size) {
  return made(__libc_memalign(alignment, size), size, HERE);
}

int posix_memalign(void **into, size_t alignment, size_t size) {
  void *at = made(__libc_memalign(alignment, size), size, HERE);
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
  void __tsan_##name(void *at) { count_access(HERE, at, size, kind); }

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
  count_access(HERE, at, size, READ);
}
void __tsan_write_range(void *at, size_t size) {
  count_access(HERE, at, size, WRITE);
}
void __tsan_vptr_read(void **at) { count_access(HERE, at, sizeof *at, READ); }
void __tsan_vptr_update(void **at, void *value) {
  if (*at != value)
    count_access(HERE, at, sizeof *at, WRITE);
}

void *__tsan_memcpy(void *to, const void *from, size_t size) {
  count_access(HERE, from, size, READ);
  count_access(ALSO_HERE, to, size, WRITE);
  return __real_memcpy(to, from, size);
}
void *__tsan_memmove(void *to, const void *from, size_t size) {
  count_access(HERE, from, size, READ);
  count_access(ALSO_HERE, to, size, WRITE);
  return __real_memmove(to, from, size);
}
void *__tsan_memset(void *to, int value, size_t size) {
  count_access(HERE, to, size, WRITE);
  return __real_memset(to, value, size);
}

void __tsan_atomic_thread_fence(int order) {
  (void)order;
  atomic_thread_fence(memory_order_seq_cst);
}
void __tsan_atomic_signal_fence(int order) { (void)order; }

#define CHANGE(bits, type, name, builtin)                                      \
  type __tsan_atomic##bits##_##name(volatile type *at, type value,             \
                                    int order) {                               \
    (void)order;                                                               \
    count_access(HERE, at, sizeof *at, UPDATE);                                \
    return builtin(at, value, __ATOMIC_SEQ_CST);                               \
  }

#define EXCHANGE(bits, type, name)                                             \
  int __tsan_atomic##bits##_##name(volatile type *at, type *expected,          \
                                   type value, int order, int failure) {       \
    (void)order, (void)failure;                                                \
    count_access(HERE, at, sizeof *at, UPDATE);                                \
    return __atomic_compare_exchange_n(at, expected, value, false,             \
                                       __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);    \
  }

#define ATOMIC(bits, type)                                                     \
  type __tsan_atomic##bits##_load(const volatile type *at, int order) {        \
    (void)order;                                                               \
    count_access(HERE, at, sizeof *at, READ);                                  \
    return __atomic_load_n(at, __ATOMIC_SEQ_CST);                              \
  }                                                                            \
  void __tsan_atomic##bits##_store(volatile type *at, type value, int order) { \
    (void)order;                                                               \
    count_access(HERE, at, sizeof *at, WRITE);                                 \
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
    count_access(HERE, at, sizeof *at, UPDATE);                                \
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
    count_access(HERE, (void *)at, bytes, UPDATE);                             \
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
  count_access(HERE, at, CONDITION, UPDATE);
  count_access(ALSO_HERE, mutex, MUTEX, UPDATE);
  int done = __real_pthread_cond_wait(at, mutex);
  count_access(HERE, at, CONDITION, UPDATE);
  count_access(ALSO_HERE, mutex, MUTEX, UPDATE);
  return done;
}

int __real_pthread_cond_timedwait(pthread_cond_t *, pthread_mutex_t *,
                                  const struct timespec *);
int __wrap_pthread_cond_timedwait(pthread_cond_t *at, pthread_mutex_t *mutex,
                                  const struct timespec *until) {
  count_access(HERE, at, CONDITION, UPDATE);
  count_access(ALSO_HERE, mutex, MUTEX, UPDATE);
  int done = __real_pthread_cond_timedwait(at, mutex, until);
  count_access(HERE, at, CONDITION, UPDATE);
  count_access(ALSO_HERE, mutex, MUTEX, UPDATE);
  return done;
}

void *__wrap_memcpy(void *to, const void *from, size_t size) {
  count_access(HERE, from, size, READ);
  count_access(ALSO_HERE, to, size, WRITE);
  return __real_memcpy(to, from, size);
}
void *__wrap_memmove(void *to, const void *from, size_t size) {
  count_access(HERE, from, size, READ);
  count_access(ALSO_HERE, to, size, WRITE);
  return __real_memmove(to, from, size);
}
void *__wrap_memset(void *to, int value, size_t size) {
  count_access(HERE, to, size, WRITE);
  return __real_memset(to, value, size);
}

// -- threads, beginning and end ---------------------------------------------

static void zero(void) {
  take(&pairs_lock);
  __real_memset(pairs, 0, PAIRS * sizeof *pairs);
  lost_pairs = transfers = 0;
  give(&pairs_lock);
  for (int t = 0; t < THREADS; t++)
    __real_memset(counts[t], 0, (site_count + 1) * sizeof *counts[t]);
}

static void dump(void) {
  char name[sizeof out_path + 8];
  if (!*out_path)
    return;
  snprintf(name, sizeof name, "%s.part", out_path);
  FILE *out = fopen(name, "w");
  if (!out)
    return;
  fprintf(out, "threads %u\ntransfers %lu\nlost %lu\n",
          thread_count < THREADS ? thread_count : THREADS, transfers,
          lost_pairs);
  for (unsigned at = 1; at <= site_count; at++) {
    fprintf(out, "site %u %x %d %u", at, sites[at].offset, sites[at].kind,
            sites[at].size);
    for (int t = 0; t < THREADS; t++)
      if (counts[t][at])
        fprintf(out, " %d:%lu", t, counts[t][at]);
    fputc('\n', out);
  }
  for (int at = 0; at < PAIRS; at++)
    if (pairs[at].used)
      fprintf(out, "pair %u %u %u %d %d %lu %lu\n", pairs[at].use,
              pairs[at].from, pairs[at].allocation, pairs[at].distance,
              pairs[at].same_object, pairs[at].needed, pairs[at].vain);
  fclose(out);
  rename(name, out_path);
}

// Commands are files beside that of the counts, which are removed when done.
static void *control(void *unused) {
  char zeroing[sizeof out_path + 8], dumping[sizeof out_path + 8];
  busy = true;
  snprintf(zeroing, sizeof zeroing, "%s.zero", out_path);
  snprintf(dumping, sizeof dumping, "%s.dump", out_path);
  for (;; usleep(POLL_US)) {
    if (!faccessat(AT_FDCWD, zeroing, F_OK, 0)) {
      zero();
      unlink(zeroing);
    }
    if (!faccessat(AT_FDCWD, dumping, F_OK, 0)) {
      dump();
      unlink(dumping);
    }
  }
  return unused;
}

typedef struct {
  void *(*entry)(void *);
  void *argument;
  int number;
} Start;

static void *started(void *given) {
  Start start = *(Start *)given;
  __libc_free(given);
  my_number = start.number;
  return start.entry(start.argument);
}

int __wrap_pthread_create(pthread_t *into, const pthread_attr_t *attributes,
                          void *(*entry)(void *), void *argument) {
  Start *start = __libc_malloc(sizeof *start);
  unsigned given = atomic_fetch_add(&thread_count, 1);
  *start = (Start){entry, argument, given < THREADS ? (int)given : THREADS - 1};
  if (steady)
    zero();
  return __real_pthread_create(into, attributes, started, start);
}

static void in_child(void) { on = false; }

static int first_object(struct dl_phdr_info *info, size_t size, void *unused) {
  (void)size, (void)unused;
  load_base = info->dlpi_addr;
  for (int at = 0; at < info->dlpi_phnum; at++) {
    const ElfW(Phdr) *part = &info->dlpi_phdr[at];
    if (part->p_type == PT_LOAD && part->p_flags & PF_X) {
      code_start = load_base + part->p_vaddr;
      code_end = code_start + part->p_memsz;
    }
  }
  return 1; // the program comes first
}

static void finished(void) {
  if (on && getpid() == counted_process)
    dump();
}

__attribute__((constructor(101))) static void begin(void) {
  const char *given = getenv("COUNTER_OUT");
  snprintf(out_path, sizeof out_path, "%s", given ? given : "");
  steady = getenv("COUNTER_STEADY") != NULL;
  counted_process = getpid();
  dl_iterate_phdr(first_object, NULL);
  if (code_end - code_start > CODE_BYTES)
    abort();
  map = zeroed((sizeof *map) << (ADDRESS_BITS - LEAF_BITS));
  details = zeroed(sizeof *details << 21);
  objects = zeroed(sizeof *objects * OBJECTS);
  site_of = zeroed((code_end - code_start) * sizeof *site_of);
  sites = zeroed(SITES * sizeof *sites);
  pairs = zeroed(PAIRS * sizeof *pairs);
  for (int t = 0; t < THREADS; t++)
    counts[t] = zeroed(SITES * sizeof **counts);
  number();
  pthread_atfork(NULL, NULL, in_child);
  atexit(finished);
  pthread_t controller;
  if (*out_path && !__real_pthread_create(&controller, NULL, control, NULL))
    pthread_detach(controller);
  on = true;
}
