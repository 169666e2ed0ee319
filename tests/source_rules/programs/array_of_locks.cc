// ARGS: -std=c++17
// A striped lock: the array starts a line, the stripes share lines.
// expect: array-aligned-not-element medium StripesOf<16>.locks
#include <cstddef>
#include <mutex>

template <std::size_t N> struct StripesOf {
  alignas(64) std::mutex locks[N];
  std::mutex &at(std::size_t key) { return locks[key % N]; }
  void with(std::size_t key, long *value) {
    locks[key % N].lock();
    ++*value;
    locks[key % N].unlock();
  }
};

using Stripes = StripesOf<16>;
static Stripes stripes;

void add(std::size_t key, long *value) { stripes.with(key, value); }
