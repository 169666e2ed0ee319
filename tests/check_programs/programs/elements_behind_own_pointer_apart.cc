// A thread-local pointer leads each thread to its element, which fills a line.
// no-finding
#include <atomic>
#include <thread>
#include <vector>

struct alignas(64) Counts {
  unsigned long executed = 0, stolen = 0;
};

static thread_local Counts *mine;
static std::atomic<bool> stop;

struct Pool {
  std::vector<Counts> counts;

  void step(unsigned number) {
    if (number & 1)
      mine->stolen++;
    else
      mine->executed++;
  }
  void run(unsigned number) {
    mine = &counts[number];
    while (!stop.load(std::memory_order_relaxed))
      step(number);
  }
};

int main(int argc, char **) {
  Pool pool;
  pool.counts.resize(unsigned(argc) + 4);
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < 4; i++)
    threads.emplace_back(&Pool::run, &pool, i);
  pool.run(0);
  for (auto &t : threads)
    t.join();
}
