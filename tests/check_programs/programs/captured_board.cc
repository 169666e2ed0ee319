// Threads capture by reference an object that is local to main, and count in it at the number they were given.
// expect: packed-thread-slots high Board.seen[0]
#include <atomic>
#include <thread>
#include <vector>

struct Board {
  unsigned limit;
  std::atomic<unsigned long> seen[8];
  std::atomic<bool> stop{false};
};

int main() {
  Board board;
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 8; i++)
    threads.emplace_back([&board, i] {
      while (!board.stop.load(std::memory_order_relaxed))
        board.seen[i].fetch_add(1, std::memory_order_relaxed);
    });
  board.stop = true;
  for (auto &t : threads)
    t.join();
}
