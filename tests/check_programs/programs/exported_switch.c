// ARGS: -fPIC -std=gnu11
// A library: whoever calls it, the switch that each call reads lies beside the counter.
// expect: written-beside-read-mostly medium lib.hits lib.enabled
#include <stdatomic.h>
static struct {
  atomic_long hits;
  int enabled;
  int level;
} lib;
void lib_configure(int enabled, int level) {
  lib.enabled = enabled;
  lib.level = level;
}
int lib_filter(const int *x, int n) {
  int k = 0;
  for (int i = 0; i < n; i++) {
    if (lib.enabled && x[i] > lib.level)
      k++;
    __asm__ volatile("" ::: "memory");
  }
  return k;
}
void lib_count(int n) {
  for (int i = 0; i < n; i++)
    atomic_fetch_add_explicit(&lib.hits, 1, memory_order_relaxed);
}
