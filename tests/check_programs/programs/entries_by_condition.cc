// ARGS: -std=c++17
// Every other thread of a pool sends, the rest receive: both methods are entries, and several threads run each.
// expect: independent-writers high main::link.sent_ main::link.received_
#include <atomic>
#include <thread>
#include <vector>
class Link {
  alignas(64) std::atomic<long> sent_{0};
  std::atomic<long> received_{0};
  alignas(64) std::vector<std::thread> threads_;
  void send() {
    for (int i = 0; i < 10000000; i++)
      sent_.fetch_add(1, std::memory_order_relaxed);
  }
  void receive() {
    for (int i = 0; i < 10000000; i++)
      received_.fetch_add(1, std::memory_order_relaxed);
  }

public:
  void start(int n) {
    for (int i = 0; i < n; i++)
      threads_.emplace_back(i % 2 ? &Link::send : &Link::receive, this);
  }
  void join() {
    for (auto &t : threads_)
      t.join();
  }
};
int main(int argc, char **) {
  static Link link;
  link.start(argc + 3);
  link.join();
}
