// Readers of a shared mutex: they write its count, as they have to.
#include <mutex>
#include <shared_mutex>
#include <thread>
alignas(64) static std::shared_mutex lock;
alignas(64) static long rates[8] = {1, 2, 3, 5, 8, 13, 21, 34};
static long look(int times) {
  long sum = 0;
  for (int i = 0; i < times; i++) {
    std::shared_lock<std::shared_mutex> hold(lock);
    sum += rates[i & 7];
  }
  return sum;
}
int main() {
  std::thread other(look, 7000000);
  const long sum = look(7000000);
  other.join();
  return sum == 1;
}
