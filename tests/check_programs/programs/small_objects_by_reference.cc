// ARGS: -std=c++17
// What a pointer of a vector leads to, another one for each thread; the objects were made one after the other.
// expect: thread-elements-meet medium Shard
#include <atomic>
#include <memory>
#include <thread>
#include <vector>
struct Shard {
  std::atomic<long> hits{0};
  int number = 0;
};
static std::vector<std::unique_ptr<Shard>> shards;
static std::atomic<bool> stop{false};
static void run(Shard &shard) {
  while (!stop.load(std::memory_order_relaxed))
    shard.hits.fetch_add(1, std::memory_order_relaxed);
}
int main() {
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; i++)
    shards.push_back(std::make_unique<Shard>());
  for (int i = 0; i < 8; i++)
    threads.emplace_back(run, std::ref(*shards[i]));
  for (auto &thread : threads)
    thread.join();
}
