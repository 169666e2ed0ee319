// The same where a function tells the number of the thread: one of its own, or the system's.
// expect: packed-thread-slots medium states
#define _GNU_SOURCE
#include <sched.h>
static __thread int number = -1;
static inline int my_number(void) { return number; }
struct state {
  unsigned long calls;
  unsigned loops;
};
static struct state states[64];
struct padded {
  unsigned long calls;
} __attribute__((aligned(64)));
static struct padded by_processor[64];
void serve(int n) {
  struct state *own = &states[my_number()];
  for (int i = 0; i < n; i++) {
    own->calls++;
    by_processor[sched_getcpu()].calls++;
  }
}
