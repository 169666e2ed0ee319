// ARGS: -std=c++20
// A queue lock: each thread spins on its own node, and the nodes of four threads share a line.
// expect: packed-thread-slots high nodes
#include <atomic>
#include <thread>
#include <vector>
struct Node {
  std::atomic<Node *> next{nullptr};
  std::atomic<bool> locked{false};
};
static std::atomic<Node *> tail;
static Node nodes[16];
static long shared_value;
static void lock(Node *me) {
  me->next.store(nullptr, std::memory_order_relaxed);
  me->locked.store(true, std::memory_order_relaxed);
  Node *before = tail.exchange(me, std::memory_order_acq_rel);
  if (before) {
    before->next.store(me, std::memory_order_release);
    while (me->locked.load(std::memory_order_acquire))
      ;
  }
}
static void unlock(Node *me) {
  Node *next = me->next.load(std::memory_order_acquire);
  if (!next) {
    Node *expected = me;
    if (tail.compare_exchange_strong(expected, nullptr))
      return;
    while (!(next = me->next.load(std::memory_order_acquire)))
      ;
  }
  next->locked.store(false, std::memory_order_release);
}
static void work(int id) {
  for (int i = 0; i < 1000000; i++) {
    lock(&nodes[id]);
    shared_value++;
    unlock(&nodes[id]);
  }
}
int main() {
  std::vector<std::jthread> t;
  for (int i = 0; i < 16; i++)
    t.emplace_back(work, i);
}
