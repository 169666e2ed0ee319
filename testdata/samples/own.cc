// Counters that each thread has for itself, and one sum at the end.
#include <atomic>
#include <thread>
static thread_local volatile long mine;
static std::atomic<long> sum{0};
int main() {
  auto count = [] {
    for (long i = 0; i < 150000000; i++)
      mine = mine + i;
    sum += mine;
  };
  std::thread a(count), b(count);
  a.join(), b.join();
}
