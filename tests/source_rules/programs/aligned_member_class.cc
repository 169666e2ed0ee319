// ARGS: -std=c++20
// A class with a lock inside, aligned where it is defined: static members, inline variables and templates alike.
// expect: aligned-tail-free note Registry::instance
// expect: aligned-tail-free note counter
#include <atomic>
#include <mutex>

struct Table {
  std::mutex lock;
  int size = 0;
  void grow() {
    std::lock_guard guard(lock);
    size++;
  }
};

struct Registry {
  alignas(64) static Table instance;
};
alignas(64) Table Registry::instance;

alignas(64) inline std::atomic<int> counter;

struct alignas(64) Padded {
  std::atomic<int> value;
};
Padded padded;

void run() {
  Registry::instance.grow();
  counter++;
  padded.value++;
}
