// A worker counts beside a flag that it looks at.  Nobody else comes to the
// line before the end.
#include <atomic>
#include <chrono>
#include <functional>
#include <thread>
struct alignas(64) Worker {
  std::atomic<bool> stop{false};
  unsigned long rounds = 0;
  void operator()() {
    while (!stop.load(std::memory_order_relaxed))
      rounds += rounds % 7 + 1;
  }
};
int main() {
  static Worker first, second;
  std::thread one(std::ref(first)), two(std::ref(second));
  std::this_thread::sleep_for(std::chrono::milliseconds(700));
  first.stop = second.stop = true;
  one.join();
  two.join();
}
