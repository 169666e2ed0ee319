// The macro is defined; and a variable that only sounds alike is used.
// no-finding
#define __cacheline_aligned __attribute__((aligned(64)))

struct counters {
  long hits;
  long misses;
} __cacheline_aligned;

struct state {
  int aligned;
} ALIGNED_STATE;

static struct counters counters[16];

void count(int self) {
  counters[self].hits++;
  ALIGNED_STATE.aligned = 1;
}
