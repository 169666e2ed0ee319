// ARGS: -std=c++20
// Near misses: a number that is handed on beside another one, that others hand as well, and elements a line apart.
// no-finding
#include <cstdint>
#include <stop_token>
#include <thread>
#include <vector>
struct Walks {
  explicit Walks(unsigned count) : items(1 << 20), shared(1 << 20), apart(count * 8) {}
  void count(unsigned index, unsigned item) { items[(index << 10) + item] = item; }
  void mark(unsigned item) { shared[item] = 1; }
  void run(unsigned many) {
    for (unsigned i = 0; i < many; ++i)
      threads.emplace_back([this, i](std::stop_token token) {
        unsigned seen = i;
        while (!token.stop_requested()) {
          seen = seen * 1664525u + 1013904223u;
          count(i, seen & 1023);
          mark(i);
          mark(seen >> 12);
          ++apart[i * 8];
        }
      });
  }
  std::vector<uint64_t> items;
  std::vector<unsigned char> shared;
  std::vector<uint64_t> apart;
  std::vector<std::jthread> threads;
};
int main() {
  Walks walks(8);
  walks.run(8);
}
