// Atomics of the library behind a plain pointer, at the number that a thread's
// record has.
#include <atomic>
#include <thread>
#include <vector>
// expect: packed-thread-slots medium Pool.busy[]
struct Worker {
  unsigned id;
  unsigned turn;
};
struct alignas(64) Apart {
  std::atomic<int> value;
};
struct Pool {
  std::atomic<int> *busy;    // one for each worker
  std::atomic<int> *buckets; // one for each number that comes up
  Apart *apart;
  std::atomic<int> *one; // never an array
  alignas(64) std::atomic<bool> stop{false};
};
void work(Pool &pool, Worker &w) {
  while (!pool.stop.load(std::memory_order_relaxed)) {
    w.turn = w.turn * 1664525u + 1013904223u;
    pool.busy[w.id].fetch_add(1, std::memory_order_relaxed);
    pool.buckets[w.turn >> 10].fetch_add(1, std::memory_order_relaxed);
    pool.apart[w.id].value.fetch_add(1, std::memory_order_relaxed);
    pool.one->fetch_add(1, std::memory_order_relaxed);
  }
}
int main() {
  static Pool pool;
  pool.busy = new std::atomic<int>[8]();
  pool.buckets = new std::atomic<int>[1 << 22]();
  pool.apart = new Apart[8];
  pool.one = new std::atomic<int>{0};
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 8; ++i)
    threads.emplace_back([i] {
      Worker w{i, i};
      work(pool, w);
    });
  for (auto &t : threads)
    t.join();
}
