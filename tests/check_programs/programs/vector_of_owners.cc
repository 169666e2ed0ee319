// ARGS: -std=c++17
// Each thread counts in its own element of a vector, and in others' what it took from them.
// expect: independent-writers medium Tally.taken
#include <atomic>
#include <thread>
#include <vector>
struct alignas(64) Tally {
  unsigned long made = 0;
  unsigned long kept = 0;
  std::atomic<unsigned long> taken{0};
};
static std::vector<Tally> tallies(8);
static void work(unsigned me) {
  unsigned long x = me + 1;
  for (int i = 0; i < 1000000; i++) {
    x = x * 6364136223846793005ul + 1442695040888963407ul;
    Tally &own = tallies[me];
    own.made++;
    own.kept += x >> 60;
    tallies[(x >> 40) % tallies.size()].taken.fetch_add(1, std::memory_order_relaxed);
  }
}
int main() {
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 8; i++)
    threads.emplace_back(work, i);
  for (auto &one : threads)
    one.join();
}
