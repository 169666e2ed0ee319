// Each thread gets a reference to an element of a vector that is local to main, and counts there.
// expect: thread-elements-meet medium Tally
#include <atomic>
#include <functional>
#include <future>
#include <vector>

struct Tally {
  unsigned long done = 0;
  unsigned long bytes = 0;
};

static std::atomic<bool> stop;

static void work(Tally &mine, unsigned seed) {
  while (!stop.load(std::memory_order_relaxed)) {
    mine.done++;
    mine.bytes += seed;
  }
}

int main(int argc, char **) {
  std::vector<Tally> tallies(unsigned(argc) + 3);
  std::vector<std::future<void>> running;
  for (unsigned i = 0; i < tallies.size(); i++)
    running.push_back(std::async(std::launch::async, work, std::ref(tallies[i]), i));
  stop = true;
  for (auto &one : running)
    one.get();
}
