// ARGS: -std=c++17
// Which of two methods a thread runs is chosen in a variable, and the library's wrapper of methods is handed that.
// expect: independent-writers high main::link.sent_ main::link.received_
#include <atomic>
#include <functional>
#include <thread>
#include <vector>
class Link {
  alignas(64) std::atomic<long> sent_{0};
  std::atomic<long> received_{0};
  alignas(64) std::vector<std::thread> threads_;
  void send(int rounds) {
    for (int i = 0; i < rounds; i++)
      sent_.fetch_add(1, std::memory_order_relaxed);
  }
  void receive(int rounds) {
    for (int i = 0; i < rounds; i++)
      received_.fetch_add(1, std::memory_order_relaxed);
  }

public:
  void start(int n) {
    for (int i = 0; i < n; i++) {
      auto run = i % 2 ? &Link::send : &Link::receive;
      threads_.emplace_back(std::mem_fn(run), this, 10000000);
    }
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
