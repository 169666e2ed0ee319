// A parallel algorithm, and a thread beside it.
#include "pair.h"

#include <algorithm>
#include <execution>
#include <thread>

static long values[1 << 16];

int main() {
  std::thread beside(consume);
  std::for_each(std::execution::par, values, values + (1 << 16),
                [](long value) { produced.fetch_add(value, std::memory_order_relaxed); });
  beside.join();
}
