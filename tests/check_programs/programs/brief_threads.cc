// Threads that are started once and end after a few thousand rounds lose nothing that anybody sees.
// no-finding
#include <thread>
#include <vector>

constexpr unsigned kThreads = 4;

struct Pool {
  unsigned long warm[kThreads];

  void start() {
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < kThreads; i++)
      threads.emplace_back([this, i] {
        for (unsigned k = 0; k < 5000; k++)
          warm[i] += k * 7;
      });
    for (auto &t : threads)
      t.join();
  }
};

static Pool pool;

int main() {
  pool.start();
  return (int)pool.warm[0];
}
