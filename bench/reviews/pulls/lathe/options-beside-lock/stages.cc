#include "stages.h"

namespace lathe {

static Handoff Between;
static std::atomic<bool> Over{false};
static long Sum;

void cut(long Pieces) {
  for (long I = 0; I < Pieces; ++I) {
    Node *N = Nodes.get();
    N->Value = I;
    N->Stage = 1;
    while (!Between.offer(N))
      ;
  }
  Over.store(true, std::memory_order_release);
}

void polish() {
  for (;;) {
    bool Zero = Nodes.zeroes();
    Node *N = Between.take();
    if (!N) {
      if (Over.load(std::memory_order_acquire))
        return;
      continue;
    }
    Sum += N->Value;
    if (Zero)
      N->Value = 0;
    Nodes.put(N);
  }
}

long finished() { return Sum; }

} // namespace lathe
