// ARGS: -std=c++20
// An element for each thread, updated by its own member function: each element is handed on as its address.
// expect: packed-thread-slots high stats
#include <thread>
#include <vector>
namespace {
struct Stats {
  long done = 0;
  void add(long n) { done += n; }
};
Stats stats[8];
} // namespace
static void work(int id) {
  for (int i = 0; i < 1000000; i++)
    stats[id].add(i);
}
int main() {
  std::vector<std::jthread> threads;
  for (int i = 0; i < 8; i++)
    threads.emplace_back(work, i);
}
