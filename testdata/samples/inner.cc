// Sums in a variable of main that two lambdas capture; PAD parts them.
#include <future>
#include <iostream>
#ifdef PAD
#define OWN alignas(64)
#else
#define OWN
#endif
struct Sums {
  OWN volatile double left = 0;
  OWN volatile double right = 0;
};
int main() {
  alignas(64) Sums sums;
  auto left = std::async(std::launch::async, [&sums] {
    for (int i = 1; i < 50'000'000; ++i)
      sums.left = sums.left + 1.0 / i;
  });
  for (int i = 1; i < 50'000'000; ++i)
    sums.right = sums.right - 1.0 / i;
  left.wait();
  std::cout << sums.left + sums.right << '\n';
}
