// Elements of std::array: their own type is aligned, whoever holds the array.
#include <array>
#include <atomic>
#include <thread>
#include <vector>

struct Totals {
  std::atomic<long> in{0}, out{0};
};
static std::array<Totals, 8> totals;

class Meter {
public:
  void run(int id) {
    while (!stop_.load(std::memory_order_relaxed)) {
      counts_[id].seen++;
      totals[id].in++;
    }
  }
  long sum() const {
    long result = 0;
    for (const auto &count : counts_)
      result += count.seen;
    return result;
  }

private:
  struct Count {
    long seen = 0;
    long lost = 0;
  };
  alignas(64) std::atomic<bool> stop_{false};
  alignas(64) std::array<Count, 8> counts_{};
};
static Meter meter;

int main() {
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; i++)
    threads.emplace_back(&Meter::run, &meter, i);
  for (auto &thread : threads)
    thread.join();
  return static_cast<int>(meter.sum());
}
