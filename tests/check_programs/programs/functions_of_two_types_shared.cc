// As functions_of_two_types.cc, but workers are handed what counts replies.
// expect: independent-writers high counts.accepted counts.replied
// ARGS: -std=c++17
#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <unistd.h>
#include <vector>

struct alignas(64) Counts {
  std::atomic<unsigned long> accepted, replied;
};
struct alignas(64) Done {
  std::atomic<unsigned long> jobs;
  char rest[56];
};
struct alignas(64) Tasks {
  std::mutex lock;
  std::vector<std::function<void()>> queue;
};
struct alignas(64) Handlers {
  std::map<int, std::function<void(int)>> of;
  char rest[16];
};
static Counts counts;
static Done done;
static Tasks tasks;
static Handlers handlers;

static void work() {
  for (;;) {
    std::function<void()> next;
    {
      std::lock_guard<std::mutex> held(tasks.lock);
      if (tasks.queue.empty()) continue;
      next = std::move(tasks.queue.back());
      tasks.queue.pop_back();
    }
    next();
  }
}

static bool get(int *which) { return read(0, which, sizeof *which) > 0; }

int main() {
  handlers.of[0] = [](int) { counts.accepted.fetch_add(1, std::memory_order_relaxed); };
  tasks.queue.emplace_back([] { counts.replied.fetch_add(1, std::memory_order_relaxed); });
  tasks.queue.push_back([] { done.jobs.fetch_add(1, std::memory_order_relaxed); });
  std::thread first(work), second(work);
  for (int which; get(&which);) handlers.of[which & 1](which);
  first.join();
  second.join();
}
