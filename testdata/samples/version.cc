// A sequence lock: readers look at the version, the value and the version
// again.  That all of it is on one line is as it should be.
#include <atomic>
#include <cstdint>
#include <thread>
namespace {
struct alignas(64) Quote {
  std::atomic<std::uint32_t> version{0};
  std::atomic<std::uint32_t> bid{0}, ask{0};
};
Quote quote;
std::atomic<bool> closed{false};
void write_quotes() {
  for (std::uint32_t price = 1; price < 12000000; ++price) {
    quote.version.fetch_add(1, std::memory_order_acquire);
    quote.bid.store(price, std::memory_order_relaxed);
    quote.ask.store(price + 2, std::memory_order_relaxed);
    quote.version.fetch_add(1, std::memory_order_release);
  }
  closed = true;
}
std::uint32_t read_spread() {
  for (;;) {
    const auto before = quote.version.load(std::memory_order_acquire);
    const auto spread = quote.ask.load(std::memory_order_relaxed) -
                        quote.bid.load(std::memory_order_relaxed);
    std::atomic_thread_fence(std::memory_order_acquire);
    if (before % 2 == 0 &&
        quote.version.load(std::memory_order_relaxed) == before)
      return spread;
    if (closed)
      return 0;
  }
}
} // namespace
int main() {
  std::thread writer(write_quotes);
  std::uint64_t sum = 0;
  while (!closed)
    sum += read_spread();
  writer.join();
  return sum == 1;
}
