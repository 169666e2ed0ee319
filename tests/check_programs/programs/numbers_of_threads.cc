// ARGS: -std=c++20
// Plain numbers on the heap, one for each thread, which hands its number on: no record names them, a member leads there.
// expect: packed-thread-slots medium Walks.steps[]
#include <cstdint>
#include <stop_token>
#include <thread>
#include <vector>
struct Walks {
  explicit Walks(unsigned count) : steps(count) {}
  void step(unsigned index) { ++steps[index]; }
  void run() {
    for (unsigned i = 0; i < steps.size(); ++i)
      threads.emplace_back([this, i](std::stop_token token) {
        while (!token.stop_requested())
          step(i);
      });
  }
  std::vector<uint64_t> steps;
  std::vector<std::jthread> threads;
};
int main() {
  Walks walks(8);
  walks.run();
}
