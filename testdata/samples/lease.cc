// One thread copies a shared pointer again and again; another reads what it
// points to, beside the counts.
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <thread>
#include <vector>
struct Tariff {
#ifdef PAD
  alignas(128)
#endif
  int price = 3;
  int fee = 2;
};
static std::atomic<bool> stop{false};
__attribute__((noinline)) static int borrow(std::shared_ptr<Tariff> one) { return one->fee & 1; }
static long handOut(const std::shared_ptr<Tariff>& tariff) {
  long sum = 0;
  while (!stop.load(std::memory_order_relaxed)) sum += borrow(tariff);
  return sum;
}
static long charge(const volatile int& price, const volatile int& fee) {
  long sum = 0;
  for (long i = 0; i < 250000000; i++) sum += price * i + fee;
  return sum;
}
int main() {
  // On the line of its counts, which lie in front of it.
  std::vector<std::shared_ptr<Tariff>> printed;
  do
    printed.push_back(std::make_shared<Tariff>());
  while (reinterpret_cast<std::uintptr_t>(printed.back().get()) % 64 < 8 && alignof(Tariff) < 64);
  const auto tariff = printed.back();
  long lent = 0;
  std::thread lender([&] { lent = handOut(tariff); });
  long total = charge(tariff->price, tariff->fee);
  stop = true;
  lender.join();
  std::printf("%ld %d\n", total, lent > 0);
}
