// What a thread writes when it ends, threads that are started once each, tasks of a pool, and what is done once of each.
// no-finding
// ARGS: -std=c++17 -O2
#include <future>
#include <thread>
#include <vector>

long work(long from);

struct Result {
  long value = 0;
  long state[8] = {};
  long failed = 0;
};

long all(unsigned count) {
  std::vector<Result> results(count);
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < count; ++i)
    threads.emplace_back([&results, i] {
      results[i].value = work(i);
      results[i].failed = !results[i].value;
    });
  for (std::thread &thread : threads)
    thread.join();
  return results[0].value;
}

struct Table {
  long hits = 0;
  long keys[8] = {};
  long misses = 0;
};

static std::vector<Table> tables(4);

static void look(unsigned key) {
  for (long i = 0; i < 1000; ++i)
    if (work(i))
      ++tables[key].hits;
    else
      ++tables[key].misses;
}

void one(unsigned key) { std::thread(look, key).detach(); }

namespace tbb {
template <typename Range, typename Body> void parallel_for_each(Range &range, const Body &body) {
  for (auto &each : range)
    body(each);
}
} // namespace tbb

struct Entry {
  long begin = 0;
  long body[8] = {};
  long end = 0;
};

void fill(std::vector<Entry> &entries) {
  tbb::parallel_for_each(entries, [](Entry &entry) { entry.end = entry.begin = work(entry.body[0]); });
}
