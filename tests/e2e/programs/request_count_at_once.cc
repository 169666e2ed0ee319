// Requests are counted by a helper that is over at once: the switches beside the count are looked at with the line that
// it has fetched.
// no-finding
#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>
struct Gauges {
  alignas(64) std::atomic<long> served{0};
  std::atomic<bool> tracing{false};
  std::atomic<int> every{64};
  static Gauges &of() {
    static Gauges one;
    return one;
  }
};
struct alignas(64) Kind {
  std::mutex lock;
  long amount = 0;
};
static Kind kinds[64];
__attribute__((noinline)) void count() {
  Gauges::of().served.fetch_add(1, std::memory_order_relaxed);
}
__attribute__((noinline)) void serve(unsigned request) {
  Kind &kind = kinds[request % 64];
  std::lock_guard<std::mutex> guard(kind.lock);
  kind.amount += request;
}
static std::atomic<bool> stop;
static void work(unsigned me) {
  unsigned x = me + 1, traced = 0;
  while (!stop.load(std::memory_order_relaxed)) {
    x = x * 1664525 + 1013904223;
    serve(x >> 8);
    count();
    Gauges &gauges = Gauges::of();
    if (gauges.tracing.load(std::memory_order_relaxed) &&
        x % gauges.every.load(std::memory_order_relaxed) == 0)
      traced++;
  }
  kinds[me % 64].amount += traced;
}
int main(int argc, char **) {
  std::vector<std::thread> workers;
  for (int i = 0; i < argc + 2; ++i)
    workers.emplace_back(work, i);
  std::this_thread::sleep_for(std::chrono::seconds(argc));
  stop = true;
  for (auto &one : workers)
    one.join();
}
