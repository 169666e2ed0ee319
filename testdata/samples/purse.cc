// Each thread has a thread-local pointer to its purse; the purses are elements of one vector.
#include <cstdint>
#include <cstdio>
#include <thread>
#include <vector>
#ifdef PAD
struct alignas(128) Purse {
#else
struct Purse {
#endif
  std::int64_t coins = 0;
  std::int64_t notes = 0;
};
static thread_local Purse* mine;
__attribute__((noinline)) static void pay(std::uint64_t amount) {
  mine->coins += amount % 5;
  if (amount & 8) mine->notes += amount >> 60;
}
static void shop(Purse* purse, std::uint64_t seed) {
  mine = purse;
  for (long i = 0; i < 240000000; i++) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    pay(seed >> 32);
  }
}
int main() {
  std::vector<Purse> purses(8);
  std::size_t first = 0;
#ifndef PAD
  // Two neighbours that do not have a line's end between them.
  while ((reinterpret_cast<std::uintptr_t>(&purses[first]) ^ reinterpret_cast<std::uintptr_t>(&purses[first + 1])) / 64)
    first++;
#endif
  std::thread one(shop, &purses[first], 1), two(shop, &purses[first + 1], 2);
  one.join();
  two.join();
  std::printf("%ld %ld\n", long(purses[first].coins), long(purses[first + 1].notes));
}
