// Each worker's bins come from new[] in a loop and are small, so that two
// workers' bins lie on one line; PAD makes them as long as two lines.
#include <cstdio>
#include <thread>
#include <vector>
#ifdef PAD
constexpr int length = 16;
#else
constexpr int length = 3;
#endif
static std::vector<long *> make_bins(int workers) {
  std::vector<long *> all;
  for (int worker = 0; worker < workers; worker++)
    all.push_back(new long[length]());
  return all;
}
static void sort_into(volatile long *bins, unsigned seed) {
  for (long i = 0; i < 200'000'000; i++) {
    seed = seed * 1664525u + 1013904223u;
    long &bin = const_cast<long &>(bins[(seed >> 30) % 3]);
    *static_cast<volatile long *>(&bin) = bin + 1;
  }
}
int main() {
  auto all = make_bins(8);
  // Neighbours on one line: with 24 bytes each, two of any three are.
  auto line = [](long *bins) {
    return reinterpret_cast<unsigned long>(bins) / 64;
  };
  std::size_t first = 0;
  while (first + 2 < all.size() && line(all[first]) != line(all[first + 1]))
    first++;
  std::thread a(sort_into, all[first], 1), b(sort_into, all[first + 1], 2);
  a.join(), b.join();
  long sum = 0;
  for (long *bins : all) {
    sum += bins[0] + bins[1] + bins[2];
    delete[] bins;
  }
  std::printf("%ld\n", sum);
}
