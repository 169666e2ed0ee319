// ARGS: -std=c++17
// Near miss of small_objects_of_pointers: what a start of a thread allocates lies between two of them.
// no-finding
#include <atomic>
#include <memory>
#include <thread>
#include <vector>
class Worker {
  unsigned long done = 0;
  int number = 0;

public:
  static std::atomic<bool> stop;
  void run() {
    while (!stop)
      done++;
  }
  unsigned long sum() const { return done + number; }
};
std::atomic<bool> Worker::stop{false};
int main() {
  std::vector<std::unique_ptr<Worker>> workers;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; i++)
    workers.push_back(std::make_unique<Worker>()),
        threads.emplace_back(&Worker::run, workers.back().get());
  for (auto &thread : threads)
    thread.join();
  return workers[0]->sum() == 0;
}
