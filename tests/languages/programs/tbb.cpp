// A task of a group, and a parallel loop beside it.
#include "pair.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/task_group.h>

int main() {
  tbb::task_group group;
  group.run([] { consume(); });
  tbb::parallel_for(tbb::blocked_range<int>(0, 1 << 20), [](const tbb::blocked_range<int> &part) {
    for (int i = part.begin(); i != part.end(); ++i)
      produced.fetch_add(1, std::memory_order_relaxed);
  });
  group.wait();
}
