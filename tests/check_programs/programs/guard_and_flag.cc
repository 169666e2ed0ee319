// ARGS: -std=c++17
// A class with a mutex taken through RAII guards by many, and a flag that a watcher polls without it.
// The heap puts them on one line at one position of four.
// expect: hot-lock-shares-line medium Queue.lock_ Queue.stopped_
#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
class Queue {
public:
  void push(int value) {
    std::lock_guard<std::mutex> hold(lock_);
    size_ += value;
  }
  bool pop(long &value) {
    std::unique_lock<std::mutex> hold(lock_);
    value = size_;
    return size_ != 0;
  }
  bool stopped() const { return stopped_.load(std::memory_order_relaxed); }
  void stop() { stopped_.store(true); }

private:
  std::mutex lock_;
  long size_ = 0;
  std::atomic<bool> stopped_{false};
};
static void produce(Queue *q) {
  for (int i = 0; i < 1000000; i++)
    q->push(i);
}
static void consume(Queue *q) {
  long value = 0;
  for (int i = 0; i < 1000000; i++)
    q->pop(value);
}
static void watch(Queue *q) {
  long spins = 0;
  while (!q->stopped())
    spins++;
}
int main() {
  auto q = std::make_unique<Queue>();
  std::thread a(produce, q.get()), b(consume, q.get()), c(watch, q.get());
  a.join();
  b.join();
  q->stop();
  c.join();
}
