// Settings that are only read, on the line of a counter; PAD parts them.
#include <atomic>
#include <new>
#include <thread>
#ifdef PAD
#define OWN alignas(64)
#else
#define OWN
#endif
struct Config {
  OWN volatile int verbose = 0;
  volatile int level = 3;
  OWN std::atomic<long> requests{0};
};
static Config *config;
static std::atomic<bool> stop{false};
static long read_settings() {
  long n = 0;
  for (long i = 0; i < 360000000; i++)
    n += config->verbose + config->level;
  return n;
}
int main() {
  config = new (std::align_val_t(64)) Config;
  long sum = 0;
  std::thread a([&] { sum = read_settings(), stop = true; });
  std::thread b([] {
    while (!stop.load(std::memory_order_relaxed))
      config->requests.fetch_add(1);
  });
  a.join(), b.join();
  return sum == 1;
}
