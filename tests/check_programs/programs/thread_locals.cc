// ARGS: -std=c++17
// Each thread has its own: nothing is shared.
// no-finding
#include <thread>
static thread_local long hits;
static thread_local long misses;
static void count() {
  for (long i = 0; i < 1000000; i++) {
    if (i & 1)
      hits++;
    else
      misses++;
  }
}
int main() {
  std::thread a(count), b(count);
  a.join();
  b.join();
}
