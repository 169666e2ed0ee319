// An aggregation in parallel: each thread sums its part of a column into an element of a vector.
// about: partial Partial
#include <cstddef>
#include <cstdint>
#include <thread>
#include <vector>

#ifdef FIXED
struct alignas(64) Partial {
#else
struct Partial {
#endif
  uint64_t rows = 0;
  double sum = 0;
#ifdef EDIT
  bool any = false;
#endif
};

double aggregate(const std::vector<double> &column, size_t num_threads) {
  std::vector<Partial> partial(num_threads);
  std::vector<std::thread> pool;
  pool.reserve(num_threads);
  for (size_t t = 0; t < num_threads; ++t) {
    pool.emplace_back([&, t] {
      size_t begin = column.size() * t / num_threads;
      size_t end = column.size() * (t + 1) / num_threads;
      for (size_t row = begin; row < end; ++row) {
        if (column[row] < 0)
          continue;
        partial[t].sum += column[row];
        ++partial[t].rows;
      }
    });
  }
  for (auto &thread : pool)
    thread.join();
  double total = 0;
  for (const Partial &one : partial)
    total += one.sum;
  return total;
}
