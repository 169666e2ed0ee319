// ARGS: -std=c++17
// The same pointer beside a counter of every request.
// expect: written-beside-read-mostly high instance lookups
#include <atomic>
#include <mutex>
#include <thread>
struct Table {
  int value[256];
};
static std::atomic<Table *> instance;
static std::atomic<long> lookups;
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
static void count() {
  for (int i = 0; i < 1000000; i++)
    lookups.fetch_add(1, std::memory_order_relaxed);
}
int main() {
  std::thread a(work), b(work), c(count);
  a.join();
  b.join();
  c.join();
}
