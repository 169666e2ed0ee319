// std::async and std::jthread.
#include "pair.h"

#include <future>
#include <thread>

int main() {
  auto first = std::async(std::launch::async, produce);
  std::jthread second([](std::stop_token token) {
    while (!token.stop_requested())
      consumed.fetch_add(1, std::memory_order_relaxed);
  });
  first.wait();
}
