// ARGS: -std=c++17
// A switch that every request reads, beside a counter that every request writes.
// expect: written-beside-read-mostly high server.verbose server.requests
#include <atomic>
#include <cstdio>
#include <thread>
struct alignas(64) Server {
  bool verbose = false;
  std::atomic<long> requests{0};
};
static Server server;
static void read() {
  for (long i = 0; i < 1000000; i++)
    if (server.verbose)
      std::printf("%ld\n", i);
}
static void count() {
  for (long i = 0; i < 1000000; i++)
    server.requests.fetch_add(1, std::memory_order_relaxed);
}
int main(int argc, char **) {
  server.verbose = argc > 1;
  std::thread a(read), b(read), c(count);
  a.join();
  b.join();
  c.join();
}
