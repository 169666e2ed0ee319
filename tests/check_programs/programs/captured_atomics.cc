// ARGS: -std=c++17
// A local vector of atomics that threads capture: std::atomic is no record of the program.
// expect: packed-thread-slots medium counts[]
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>
int main() {
  std::vector<std::atomic<uint64_t>> counts(8);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < 8; i++)
    threads.emplace_back([&counts, i] {
      std::vector<std::atomic<uint64_t>> own(8); // each thread has these for itself
      for (int k = 0; k < 1000000; k++) {
        counts[i].fetch_add(1, std::memory_order_relaxed);
        own[i].fetch_add(1, std::memory_order_relaxed);
      }
    });
  for (auto &thread : threads)
    thread.join();
}
