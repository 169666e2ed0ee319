// A reference count inside of what it counts: one thread takes and drops
// handles, another one reads the limits all the time.  PAD parts them.
#include <atomic>
#include <thread>
#ifdef PAD
#define OWN alignas(64)
#else
#define OWN
#endif
class Table {
public:
  void retain() noexcept { refs.fetch_add(1, std::memory_order_relaxed); }
  void release() noexcept {
    if (refs.fetch_sub(1, std::memory_order_acq_rel) == 1)
      delete this;
  }
  bool allows(long size) const noexcept { return size >= low && size < high; }

private:
  OWN std::atomic<long> refs{1};
  OWN volatile long low = 10;
  volatile long high = 90000000;
};
int main() {
  auto *table = new Table;
  std::atomic<bool> ready{false};
  long allowed = 0;
  table->retain();
  std::thread reading([&, table] {
    for (long size = 0; size < 150000000; ++size)
      allowed += table->allows(size);
    ready = true;
    table->release();
  });
  while (!ready.load(std::memory_order_relaxed))
    for (int burst = 0; burst < 64; ++burst) {
      table->retain();
      table->release();
    }
  reading.join();
  table->release();
  return allowed == 1;
}
