// A queue of one producer and one consumer, who look at each other's position
// only when they seem to be stuck.  PAD parts what is the one's from the
// other's.
#include <atomic>
#include <cstddef>
#include <memory>
#include <thread>
#ifdef PAD
#define SIDE alignas(64)
#else
#define SIDE
#endif
template <typename T, std::size_t N> class SpscQueue {
  struct Positions {
    SIDE std::atomic<std::size_t> tail{0};
    std::size_t head_seen = 0;
    SIDE std::atomic<std::size_t> head{0};
    std::size_t tail_seen = 0;
  };
  alignas(64) Positions at;
  alignas(64) T slots[N];

public:
  bool push(T value) {
    const auto tail = at.tail.load(std::memory_order_relaxed);
    if (tail - at.head_seen == N) {
      at.head_seen = at.head.load(std::memory_order_acquire);
      if (tail - at.head_seen == N)
        return false;
    }
    slots[tail % N] = value;
    at.tail.store(tail + 1, std::memory_order_release);
    return true;
  }
  bool pop(T &value) {
    const auto head = at.head.load(std::memory_order_relaxed);
    if (head == at.tail_seen) {
      at.tail_seen = at.tail.load(std::memory_order_acquire);
      if (head == at.tail_seen)
        return false;
    }
    value = slots[head % N];
    at.head.store(head + 1, std::memory_order_release);
    return true;
  }
};
static SpscQueue<unsigned, 4096> queue;
int main() {
  constexpr unsigned Count = 30000000;
  std::thread producer([] {
    for (unsigned i = 0; i < Count;)
      if (queue.push(i))
        ++i;
      else
        std::this_thread::yield();
  });
  unsigned sum = 0, value = 0;
  for (unsigned n = 0; n < Count;)
    if (queue.pop(value))
      sum += value, ++n;
    else
      std::this_thread::yield();
  producer.join();
  return sum == 1;
}
