// ARGS: -std=c++17
// The arithmetic knows one member of two, for one of the instances.
// expect: pad-misses-line low Padded<long>.pad
#include <cstddef>

constexpr std::size_t kCacheLine = 64;

template <typename T> struct Padded {
  T value;
  int epoch;
  char pad[kCacheLine - sizeof(T)];
};
template <typename T> struct Right {
  T value;
  char pad[kCacheLine - sizeof(T)];
};
static Padded<long> wrong;
static Right<long> right;

void count() {
  wrong.value++;
  wrong.epoch++;
  right.value++;
}
