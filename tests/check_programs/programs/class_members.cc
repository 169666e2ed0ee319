// ARGS: -std=c++17
// An object on the heap: one thread counts through a method, the others through another.
// expect: independent-writers high Channel.sent_ Channel.acknowledged_
#include <atomic>
#include <memory>
#include <thread>
class Channel {
public:
  void send() { sent_.fetch_add(1, std::memory_order_relaxed); }
  void acknowledge() { acknowledged_.fetch_add(1, std::memory_order_relaxed); }

private:
  std::atomic<long> sent_{0};
  std::atomic<long> acknowledged_{0};
};
static void sender(Channel *c) {
  for (int i = 0; i < 1000000; i++)
    c->send();
}
static void receiver(Channel *c) {
  for (int i = 0; i < 1000000; i++)
    c->acknowledge();
}
int main() {
  auto channel = std::make_unique<Channel>();
  std::thread a(sender, channel.get()), b(receiver, channel.get());
  a.join();
  b.join();
}
