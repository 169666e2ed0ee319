// ARGS: -std=c++17
// The same with each slot rounded up to the line.
// no-finding
#include <thread>
#include <vector>
template <typename T, unsigned N> class PerThread {
public:
  void add(unsigned self, T value) { slots[self].value += value; }
  T sum() const {
    T all = 0;
    for (const Slot &slot : slots)
      all += slot.value;
    return all;
  }

private:
  struct alignas(64) Slot {
    T value = 0;
  };
  Slot slots[N];
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
