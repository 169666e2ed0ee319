// Two words and a flag that another file defines, beside each other or apart.
#include <atomic>

extern "C" std::atomic<long> produced, consumed;
extern "C" std::atomic<bool> stop;

inline void produce() {
  while (!stop.load(std::memory_order_relaxed))
    produced.fetch_add(1, std::memory_order_relaxed);
}

inline void consume() {
  while (!stop.load(std::memory_order_relaxed))
    consumed.fetch_add(1, std::memory_order_relaxed);
}
