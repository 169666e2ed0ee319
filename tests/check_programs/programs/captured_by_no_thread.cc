// Each thread has a board of its own on its stack: the lambda that captures it is called there.
// no-finding
#include <atomic>
#include <thread>
#include <vector>

struct Board {
  unsigned long taken[8];
  std::atomic<unsigned long> seen[8];
};

static std::atomic<bool> stop;

static void work(unsigned number) {
  Board board{};
  auto count = [&board, number](unsigned by) {
    board.taken[number] += by;
    board.seen[number].fetch_add(by, std::memory_order_relaxed);
  };
  while (!stop.load(std::memory_order_relaxed))
    count(number);
}

int main() {
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 8; i++)
    threads.emplace_back(work, i);
  stop = true;
  for (auto &t : threads)
    t.join();
}
