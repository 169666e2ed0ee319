// A slot for each worker, found by its number; SLOW takes the alignment of the
// slots away.
#include "planted.h"

#ifdef SLOW
struct Slot {
#else
struct alignas(LINE) Slot {
#endif
  volatile long served;
  volatile long refused;
};

alignas(LINE) static Slot slots[WORKERS];

__attribute__((noinline)) static void serve(Slot *slot) {
  for (int i = 0; i < 200; i++) {
    __atomic_fetch_add(&slot->served, i & 7, __ATOMIC_RELAXED);
    if (i == 100)
      slot->refused = slot->refused + 1;
  }
}

static void round_of(int worker) { serve(&slots[worker]); }

int main(int argc, char **argv) { run(argc, argv); }
