// Two threads go over one vector, every second element each; HALVES gives them
// half of it each.
#include <cstddef>
#include <functional>
#include <thread>
#include <vector>
using Cells = std::vector<float>;
static void scale(Cells &cells, std::size_t from, std::size_t to,
                  std::size_t step) {
  for (int pass = 0; pass < 100000; ++pass)
    for (std::size_t i = from; i < to; i += step)
      cells[i] = cells[i] * 0.999f + 1.0f;
}
static Cells *make_cells() { return new Cells(1 << 13); }
int main() {
  Cells *cells = make_cells();
#ifdef HALVES
  const std::size_t half = cells->size() / 2;
  std::thread other(scale, std::ref(*cells), half, cells->size(), 1);
  scale(*cells, 0, half, 1);
#else
  std::thread other(scale, std::ref(*cells), 1, cells->size(), 2);
  scale(*cells, 0, cells->size(), 2);
#endif
  other.join();
  return (*cells)[0] == 0;
}
