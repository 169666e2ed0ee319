// ARGS: -std=c++17
// Read by all, written by none, beside each other and beside nothing that is written.
// no-finding
#include <atomic>
#include <thread>
static const int limit = 100;
static int width = 3, height = 4;
static void look(long *out) {
  for (long i = 0; i < 1000000; i++)
    *out += i % limit < width * height;
}
int main() {
  long x = 0, y = 0;
  std::thread a(look, &x), b(look, &y);
  a.join();
  b.join();
  return x != y;
}
