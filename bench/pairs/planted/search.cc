// Looks keys up in a sorted table; SLOW goes through it from its beginning.
#include "planted.h"
#include <algorithm>
#include <vector>

static std::vector<long> keys;
static unsigned long found[WORKERS][16];

__attribute__((noinline)) static long find(long key) {
#ifdef SLOW
  for (size_t i = 0; i < keys.size(); i++)
    if (keys[i] >= key)
      return static_cast<long>(i);
  return -1;
#else
  return std::lower_bound(keys.begin(), keys.end(), key) - keys.begin();
#endif
}

__attribute__((noinline)) static long next(long key) { return (key * 1103515245 + 12345) & 2047; }

static void round_of(int worker) {
  long key = static_cast<long>(found[worker][0] & 2047);
  for (int i = 0; i < 10; i++) {
    key = next(key);
    found[worker][0] += static_cast<unsigned long>(find(key));
  }
}

int main(int argc, char **argv) {
  for (long i = 0; i < 1024; i++)
    keys.push_back(2 * i);
  run(argc, argv);
}
