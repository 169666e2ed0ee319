// A limiter that every request asks: the tokens that are left change beside the rate and the clock that all read.
// about: RateLimiter tokens_
#include <atomic>
#include <cstdint>

class Clock {
public:
  virtual ~Clock() = default;
  virtual uint64_t now() const = 0;
};

class RateLimiter {
public:
  RateLimiter(const Clock &clock, uint64_t rate, uint64_t burst) : clock_(clock), rate_(rate), burst_(burst) {}

  bool allow(uint64_t cost) {
    if (rate_ == 0)
      return true;
    if (cost > burst_ || clock_.now() < blackout_until_)
      return false;
    int64_t left = tokens_.fetch_sub(int64_t(cost), std::memory_order_relaxed);
    if (left >= int64_t(cost))
      return true;
    tokens_.fetch_add(int64_t(cost), std::memory_order_relaxed);
    return false;
  }

private:
  const Clock &clock_;
  const uint64_t rate_;
  const uint64_t burst_;
  uint64_t blackout_until_ = 0;
#ifdef EDIT
  bool verbose_ = false;
#endif
#ifdef FIXED
  alignas(64) std::atomic<int64_t> tokens_{0};
#else
  std::atomic<int64_t> tokens_{0};
#endif
};

bool admit(RateLimiter &limiter, uint64_t bytes) { return limiter.allow(bytes); }
RateLimiter *limiter_of(const Clock &clock) { return new RateLimiter(clock, 1000, 64); }
