// ARGS: -std=c++17
// The constant for keeping together keeps apart, directly and through the project's own.
// expect: constructive-interference low Queue.head
// expect: constructive-interference low Queue.tail
// expect: constructive-interference low Stats.sent
#include <atomic>
#include <new>

constexpr std::size_t kLine = std::hardware_constructive_interference_size;

struct Queue {
  alignas(std::hardware_constructive_interference_size) std::atomic<long> head;
  alignas(std::hardware_constructive_interference_size) std::atomic<long> tail;
};
struct Stats {
  std::atomic<long> received;
  alignas(kLine) std::atomic<long> sent;
};
static Queue queue;
static Stats stats;

void run() {
  queue.head++;
  queue.tail++;
  stats.received++;
  stats.sent++;
}
