// Objects with a thread each that std::make_unique makes in a loop: their threads are several, and the loop goes round
// as often as threads are started.
#include <atomic>
#include <memory>
#include <thread>
#include <vector>
// expect: packed-thread-slots medium Pool.tallies_[]
class Pool;
class Worker {
public:
  Worker(Pool &pool, unsigned id) : pool_(pool), id_(id), thread_([this] { loop(); }) {}
  ~Worker() { thread_.join(); }

private:
  void loop();
  Pool &pool_;
  unsigned id_;
  std::thread thread_;
};
class Pool {
public:
  explicit Pool(unsigned n) : tallies_(n), limit_(1 << 30) {
    for (unsigned i = 0; i < n; ++i) {
      workers_.push_back(std::make_unique<Worker>(*this, i));
      made_++;
    }
  }

private:
  friend class Worker;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::vector<std::atomic<unsigned>> tallies_;
  long made_ = 0; // beside what threads read, and written while the first ones run
  long limit_;
};
void Worker::loop() {
  for (long i = 0; i < pool_.limit_; i++)
    pool_.tallies_[id_].fetch_add(1, std::memory_order_relaxed);
}
int main() {
  Pool pool(4);
  return 0;
}
