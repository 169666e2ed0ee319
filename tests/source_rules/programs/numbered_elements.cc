// Elements of threads that are started by number, of what a parallel loop deals out, and within other arrays.
// expect: thread-elements-meet medium Worker
// ARGS: -std=c++17 -O2
#include <thread>
#include <vector>

bool next(long &job);

struct Worker {
  long done = 0;
  long state[8] = {};
  long failed = 0;
};

class Pool {
public:
  explicit Pool(unsigned count) : workers(count) {
    for (unsigned i = 0; i < count; ++i)
      threads.emplace_back([this, i] { run(i); });
  }

private:
  void run(unsigned number) {
    Worker &own = workers[number];
    for (long job; next(job);)
      if (job)
        ++own.done;
      else
        ++own.failed;
  }
  std::vector<Worker> workers;
  std::vector<std::thread> threads;
};

Pool *pool() { return new Pool(8); }

// Whole lines, but no allocator of a vector puts them on one.
// expect: thread-elements-meet medium Deque
struct Deque {
  long pushed = 0;
  long state[6] = {};
  long stolen = 0;
};

class Deques {
public:
  explicit Deques(unsigned count) : all(count) {
    for (unsigned i = 0; i < count; ++i)
      threads.emplace_back(&Deques::run, this, i);
  }

private:
  void run(unsigned number) {
    for (long job; next(job);)
      if (job)
        ++all[number].pushed;
      else
        ++all[number].stolen;
  }
  std::vector<Deque> all;
  std::vector<std::thread> threads;
};

Deques *deques() { return new Deques(8); }

// expect: thread-elements-meet medium Group
struct Group {
  std::vector<long> members;
  long size = 0;
};

namespace tbb {
template <typename Range, typename Body> void parallel_for_each(Range &range, const Body &body) {
  for (auto &each : range)
    body(each);
}
} // namespace tbb

void sum(std::vector<Group> &groups) {
  tbb::parallel_for_each(groups, [](Group &group) {
    for (long member : group.members)
      group.size += member;
  });
}

// expect: thread-elements-meet medium Counts
struct Counts {
  long calls;
  long table[8];
  long errors;
};

struct Service {
  long id;
  Counts of_thread[16];
};

static Service services[4];
static thread_local unsigned self;

void serve(int times) {
  for (int i = 0; i < times; i++) {
    services[i % 4].of_thread[self].calls++;
    services[i % 4].of_thread[self].errors++;
  }
}
