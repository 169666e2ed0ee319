// ARGS: -std=c++17
// Per-thread slots behind a template and a member function.
// expect: packed-thread-slots high counters
#include <thread>
#include <vector>
template <typename T, unsigned N> class PerThread {
public:
  void add(unsigned self, T value) { slots[self] += value; }
  T sum() const {
    T all = 0;
    for (T slot : slots)
      all += slot;
    return all;
  }

private:
  T slots[N] = {};
};
static PerThread<long, 8> counters;
static void work(unsigned self) {
  for (long i = 0; i < 1000000; i++)
    counters.add(self, i);
}
int main() {
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < 8; i++)
    threads.emplace_back(work, i);
  for (auto &t : threads)
    t.join();
  return counters.sum() != 0;
}
