// A helper that waits for what is notified once writes next to nothing.
// no-finding
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
  while (read(0, b, 64) > 0)
    totals.served++;
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
  {
    std::lock_guard<std::mutex> lock(q.guard);
    q.queued++;
    q.filled.notify_one();
  }
  b.join();
  return int(totals.served + totals.written);
}
