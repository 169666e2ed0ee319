// Members of an object that two threads hold by std::shared_ptr; PAD parts
// them.
#include <atomic>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#ifdef PAD
#define OWN alignas(64)
#else
#define OWN
#endif
struct Lodge {
  std::string name;
  long beds = 0;
  OWN std::atomic<long> arrivals{0};
  OWN std::atomic<long> departures{0};
};
static std::shared_ptr<Lodge> open_lodge(const char *name) {
  auto lodge = std::make_shared<Lodge>();
  lodge->name = name;
  lodge->beds = 40;
  return lodge;
}
int main() {
  auto lodge = open_lodge("Wanderer's rest by the upper lake");
  std::thread in([lodge] {
    for (long i = 0; i < 90'000'000; i++)
      lodge->arrivals.fetch_add(1, std::memory_order_relaxed);
  });
  std::thread out([lodge] {
    for (long i = 0; i < 90'000'000; i++)
      lodge->departures.fetch_add(1, std::memory_order_relaxed);
  });
  in.join(), out.join();
  std::printf("%s %ld %ld\n", lodge->name.c_str(), lodge->arrivals.load(),
              lodge->departures.load());
}
