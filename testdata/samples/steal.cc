// A deque of tasks for each worker, in one array; now and then a worker takes
// a task of the other one.  PAD gives each deque lines of its own.
#include <atomic>
#include <thread>
#ifdef PAD
struct alignas(64) Deque {
#else
struct Deque {
#endif
  std::atomic<long> bottom{0};
  std::atomic<long> top{0};
  long tasks = 0;
};
alignas(64) static Deque deques[2];
static void work(int me) {
  Deque &own = deques[me], &other = deques[1 - me];
  for (long i = 0; i < 40'000'000; ++i) {
    own.bottom.store(own.bottom.load(std::memory_order_relaxed) + 1,
                     std::memory_order_release);
    own.tasks += i & 3;
    if ((i & 0xfffff) == 0)
      other.top.fetch_add(1, std::memory_order_acq_rel);
  }
}
int main() {
  std::thread second(work, 1);
  work(0);
  second.join();
  return deques[0].tasks == deques[1].tasks ? 0 : 1;
}
