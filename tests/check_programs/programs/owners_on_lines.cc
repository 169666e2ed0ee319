// ARGS: -std=c++17
// Each thread counts in its own element of memory from new, and in others' on a line that is theirs.
// no-finding
#include <atomic>
#include <thread>
#include <vector>
struct alignas(64) Tally {
  unsigned long made = 0;
  unsigned long kept = 0;
  alignas(64) std::atomic<unsigned long> taken{0};
};
static Tally *tallies;
static unsigned count;
static void work(unsigned me) {
  unsigned long x = me + 1;
  for (int i = 0; i < 1000000; i++) {
    x = x * 6364136223846793005ul + 1442695040888963407ul;
    Tally &own = tallies[me];
    own.made++;
    own.kept += x >> 60;
    tallies[(x >> 40) % count].taken.fetch_add(1, std::memory_order_relaxed);
  }
}
int main(int argc, char **) {
  count = 8 * argc;
  tallies = new Tally[count];
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 8; i++)
    threads.emplace_back(work, i);
  for (auto &one : threads)
    one.join();
}
