// A spinning lock that one thread takes, beside a word that another one counts in.
#include <atomic>
#include <tbb/spin_mutex.h>
#include <thread>

extern tbb::spin_mutex produced __asm__("produced");
extern "C" std::atomic<long> consumed;
extern "C" std::atomic<bool> stop;
alignas(128) static long guarded[16];

static void take() {
  while (!stop.load(std::memory_order_relaxed)) {
    tbb::spin_mutex::scoped_lock held(produced);
    ++guarded[0];
  }
}

static void count() {
  while (!stop.load(std::memory_order_relaxed))
    consumed.fetch_add(1, std::memory_order_relaxed);
}

int main() {
  std::thread first(take), second(count);
  first.join();
  second.join();
  return guarded[0] != 0;
}
