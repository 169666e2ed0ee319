// expect: packed-thread-slots pad-element slots
#include <array>
#include <atomic>
#include <thread>
#include <vector>
struct behind_headers;
static std::array<std::atomic<long int>, 8> slots; // decl: slots
static void count(unsigned long at) {
  for (;;)
    U_slots(at)++;
}
int main() {
  std::vector<std::thread> threads;
  for (unsigned long at = 0; at < slots.size(); at++)
    threads.emplace_back(count, at);
  for (auto &thread : threads)
    thread.join();
}
