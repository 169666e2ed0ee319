// ARGS: -std=c++17
// A thread object beside what its thread counts: it is written when the thread starts.
// no-finding
#include <memory>
#include <thread>
#include <vector>
class Worker {
  long done_ = 0;
  long failed_ = 0;
  std::thread thread_;

public:
  void start() {
    thread_ = std::thread([this] {
      for (int i = 0; i < 1000000; i++) {
        if (i % 3)
          done_++;
        else
          failed_++;
      }
    });
  }
  void join() { thread_.join(); }
  long done() const { return done_ + failed_; }
};
int main() {
  std::vector<std::unique_ptr<Worker>> w;
  for (int i = 0; i < 8; i++)
    w.push_back(std::make_unique<Worker>());
  for (auto &x : w)
    x->start();
  long n = 0;
  for (auto &x : w) {
    x->join();
    n += x->done();
  }
  return n == 0;
}
