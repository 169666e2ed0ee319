// ARGS: -std=c++20
// The same, each in a type that fills its lines.
// no-finding
#include <atomic>
#include <thread>
struct alignas(128) Counter {
  std::atomic<long> value{0};
};
static Counter received;
static Counter sent;
int main() {
  std::jthread a([] {
    for (int i = 0; i < 1000000; i++)
      received.value.fetch_add(1, std::memory_order_relaxed);
  });
  std::jthread b([] {
    for (int i = 0; i < 1000000; i++)
      sent.value.fetch_add(1, std::memory_order_relaxed);
  });
}
