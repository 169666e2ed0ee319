// A mutex of Qt that one thread takes, beside a word that another one counts in.
#include <atomic>
#include <QMutex>
#include <thread>

extern QMutex produced __asm__("produced");
extern "C" std::atomic<long> consumed;
extern "C" std::atomic<bool> stop;
alignas(128) static long guarded[16];

static void take() {
  while (!stop.load(std::memory_order_relaxed)) {
    QMutexLocker held(&produced);
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
