// Threads in a vector, each with its own element of an array of small records.
// expect: packed-thread-slots high stats
#include <thread>
#include <vector>
struct Stats {
  unsigned long requests, bytes, hits;
};
alignas(64) static Stats stats[8];
static void work(unsigned id, long n) {
  for (long i = 0; i < n; i++) {
    stats[id].requests++;
    stats[id].bytes += n ^ i;
    asm volatile("" ::: "memory");
  }
}
int main(int argc, char **) {
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 8; i++)
    threads.emplace_back(work, i, argc * 1000L);
  for (auto &t : threads)
    t.join();
  return stats[0].requests == 0;
}
