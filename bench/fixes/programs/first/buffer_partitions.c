// Locks of the partitions of a buffer table, one after the other in one piece of memory.
// about: LWLock
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#define NUM_BUFFER_PARTITIONS 128

typedef struct LWLock {
  uint16_t tranche;
  uint32_t state;
  pthread_spinlock_t waiters;
} LWLock;

#ifdef FIXED
typedef union LWLockPadded {
  LWLock lock;
  char pad[64];
} LWLockPadded;
#else
typedef union LWLockPadded {
  LWLock lock;
} LWLockPadded;
#endif

typedef struct BufferTag {
  uint32_t relation, fork, block;
} BufferTag;

#ifdef EDIT
static int trace_lwlocks;
#endif
static LWLockPadded *MainLWLockArray;
extern int lookup(uint32_t hash, const BufferTag *tag);

void CreateLWLocks(void) {
#ifdef FIXED
  MainLWLockArray = aligned_alloc(64, NUM_BUFFER_PARTITIONS * sizeof(LWLockPadded));
#else
  MainLWLockArray = malloc(NUM_BUFFER_PARTITIONS * sizeof(LWLockPadded));
#endif
  for (int i = 0; i < NUM_BUFFER_PARTITIONS; i++) {
    MainLWLockArray[i].lock.state = 0;
    pthread_spin_init(&MainLWLockArray[i].lock.waiters, 0);
  }
}

static void LWLockAcquireShared(LWLock *lock) {
  uint32_t old = __atomic_load_n(&lock->state, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(&lock->state, &old, old + 1, 1, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
    ;
}

static void LWLockRelease(LWLock *lock) { __atomic_fetch_sub(&lock->state, 1, __ATOMIC_RELEASE); }

static uint32_t BufTableHashCode(const BufferTag *tag) {
  return (tag->relation * 2654435761u) ^ (tag->block * 40503u) ^ tag->fork;
}

int BufferLookup(const BufferTag *tag) {
  uint32_t hash = BufTableHashCode(tag);
  LWLock *partition = &MainLWLockArray[hash % NUM_BUFFER_PARTITIONS].lock;
  LWLockAcquireShared(partition);
  int found = lookup(hash, tag);
  LWLockRelease(partition);
  return found;
}
