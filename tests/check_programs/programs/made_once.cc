// ARGS: -std=c++17
// What is made on first use: the lock is taken once, the pointer is only read from then on.
// no-finding
#include <atomic>
#include <mutex>
#include <thread>
struct Table {
  int value[256];
};
static std::atomic<Table *> instance;
static std::mutex creation;
static Table *get() {
  Table *t = instance.load(std::memory_order_acquire);
  if (!t) {
    std::lock_guard<std::mutex> hold(creation);
    t = instance.load(std::memory_order_relaxed);
    if (!t) {
      t = new Table();
      instance.store(t, std::memory_order_release);
    }
  }
  return t;
}
static void work() {
  long s = 0;
  for (int i = 0; i < 1000000; i++)
    s += get()->value[i & 255];
  volatile long x = s;
  (void)x;
}
int main() {
  std::thread a(work), b(work);
  a.join();
  b.join();
}
