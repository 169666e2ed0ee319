// A record in a record, reached through a unique_ptr, a reference and a
// pointer.
#include <atomic>
#include <memory>
#include <thread>
struct Stats {
  long lost = 0;
  std::atomic<long> hits{0};
  std::atomic<long> misses{0};
};
struct Session {
  int fd = 0;
  Stats stats;
};
static void hit(Session *s) {
  for (long i = 0; i < 15000000; i++)
    s->stats.hits.fetch_add(1, std::memory_order_relaxed);
}
static void miss(Stats &s) {
  for (long i = 0; i < 15000000; i++)
    s.misses.fetch_add(1, std::memory_order_relaxed);
}
int main() {
  std::unique_ptr<Session> s(new (std::align_val_t(64)) Session);
  std::thread a([&] { hit(s.get()); }), b([&] { miss(s->stats); });
  a.join(), b.join();
  ::operator delete(s.release(), std::align_val_t(64));
}
