// A barrier that threads of a solver spin at: each arrival counts down beside the round that the waiting ones read.
// about: waiting_ round_
#include <atomic>
#include <cstdint>

#ifdef FIXED
#define APART alignas(64)
#else
#define APART
#endif

class SpinBarrier {
public:
  explicit SpinBarrier(uint32_t threads) : threads_(threads), waiting_(threads) {}

  void wait() {
    uint32_t round = round_.load(std::memory_order_relaxed);
    if (waiting_.fetch_sub(1, std::memory_order_acq_rel) == 1) {
      waiting_.store(threads_, std::memory_order_relaxed);
      round_.store(round + 1, std::memory_order_release);
      return;
    }
    while (round_.load(std::memory_order_acquire) == round)
      __builtin_ia32_pause();
  }

private:
  const uint32_t threads_;
#ifdef EDIT
  uint32_t spins_ = 1000;
#endif
  APART std::atomic<uint32_t> waiting_;
  APART std::atomic<uint32_t> round_{0};
};

SpinBarrier *make_barrier(uint32_t threads) { return new SpinBarrier(threads); }
void step(SpinBarrier &barrier) { barrier.wait(); }
