// Threads that go around for long, each beside the sums of the others.
// expect: packed-thread-slots high Pool.warm
#include <thread>
#include <vector>

constexpr unsigned kThreads = 4;

struct Pool {
  unsigned long warm[kThreads];

  void start() {
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < kThreads; i++)
      threads.emplace_back([this, i] {
        for (unsigned k = 0; k < 500000000; k++)
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
