// ARGS: -std=c++20
// The same with nodes, tail and data on lines of their own.
// no-finding
#include <atomic>
#include <thread>
#include <vector>
struct alignas(64) Node {
  std::atomic<Node *> next{nullptr};
  std::atomic<bool> locked{false};
};
struct alignas(64) Tail {
  std::atomic<Node *> node;
};
static Tail tail;
static Node nodes[16];
static struct alignas(64) {
  long value;
} guarded;
static void lock(Node *me) {
  me->next.store(nullptr, std::memory_order_relaxed);
  me->locked.store(true, std::memory_order_relaxed);
  Node *before = tail.node.exchange(me, std::memory_order_acq_rel);
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
    if (tail.node.compare_exchange_strong(expected, nullptr))
      return;
    while (!(next = me->next.load(std::memory_order_acquire)))
      ;
  }
  next->locked.store(false, std::memory_order_release);
}
static void work(int id) {
  for (int i = 0; i < 1000000; i++) {
    lock(&nodes[id]);
    guarded.value++;
    unlock(&nodes[id]);
  }
}
int main() {
  std::vector<std::jthread> t;
  for (int i = 0; i < 16; i++)
    t.emplace_back(work, i);
}
