// ARGS: -std=c++17
// The destructive size separates; the constructive one holds a record together, which is its purpose.
// no-finding
#include <atomic>
#include <new>

struct Queue {
  alignas(std::hardware_destructive_interference_size) std::atomic<long> head;
  alignas(std::hardware_destructive_interference_size) std::atomic<long> tail;
};
struct alignas(std::hardware_constructive_interference_size) Node {
  long key;
  long value;
};
static_assert(sizeof(Node) <= std::hardware_constructive_interference_size);
static Queue queue;
static Node node;

void run() {
  queue.head++;
  queue.tail++;
  node.key = node.value;
}
