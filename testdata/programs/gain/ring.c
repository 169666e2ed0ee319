// A ring between a producer and a consumer, its two positions side by side.
//
// The positions are also read by the other side, and the items go over: much of
// the traffic is meant.
#include "apart.h"
#include <sched.h>

enum { ITEMS = 1024 };

static struct {
  ONE_LINE uint64_t head;
  uint64_t seen_tail;
  APART uint64_t tail;
  uint64_t seen_head;
} ring;
static ONE_LINE uint64_t items[ITEMS];
static uint64_t results[2][8];

enum { TRANSFERS = 30000000 };

static void *produce(void *number) {
  uint64_t value = 1;
  for (uint64_t i = 0; i < TRANSFERS; i++) {
    value = compute(value, 10);
    while (i - ring.seen_tail >= ITEMS) {
      ring.seen_tail = __atomic_load_n(&ring.tail, __ATOMIC_ACQUIRE);
      if (i - ring.seen_tail >= ITEMS)
        sched_yield();
    }
    items[i % ITEMS] = value;
    __atomic_store_n(&ring.head, i + 1, __ATOMIC_RELEASE);
  }
  return number;
}

static void *consume(void *number) {
  uint64_t value = 0;
  for (uint64_t i = 0; i < TRANSFERS; i++) {
    while (i == ring.seen_head) {
      ring.seen_head = __atomic_load_n(&ring.head, __ATOMIC_ACQUIRE);
      if (i == ring.seen_head)
        sched_yield();
    }
    value = compute(value ^ items[i % ITEMS], 8);
    __atomic_store_n(&ring.tail, i + 1, __ATOMIC_RELEASE);
  }
  results[0][0] = value;
  return number;
}

static void *start(void *number) {
  return number ? consume(number) : produce(number);
}

int main(void) {
  run_threads(start, 2);
  printf("%llx\n", (unsigned long long)results[0][0]);
}
