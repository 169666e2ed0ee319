// A helper that is notified of each request writes as often as requests come.
// expect: independent-writers medium totals.served totals.written
#include <condition_variable>
#include <mutex>
#include <thread>
#include <unistd.h>

struct alignas(128) Queue {
  std::mutex guard;
  std::condition_variable filled;
  int queued;
};
static Queue q;
struct alignas(128) Totals {
  long served, written;
};
static Totals totals;

static void serve() {
  char b[64];
  while (read(0, b, 64) > 0) {
    totals.served++;
    std::lock_guard<std::mutex> lock(q.guard);
    q.queued++;
    q.filled.notify_one();
  }
}

static void helper(long by) {
  for (;;) {
    std::unique_lock<std::mutex> lock(q.guard);
    q.filled.wait(lock, [] { return q.queued > 0; });
    q.queued--;
    lock.unlock();
    totals.written += by;
  }
}

int main() {
  std::thread a(serve), b(helper, 3);
  a.join();
  b.join();
  return int(totals.served + totals.written);
}
