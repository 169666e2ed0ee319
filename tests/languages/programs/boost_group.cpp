// Threads of a group: of a function with its arguments bound, and of a lambda.
#include "pair.h"

#include <boost/bind/bind.hpp>
#include <boost/thread/thread.hpp>

static void work(int count) {
  for (int i = 0; i < count; ++i)
    produced.fetch_add(1, std::memory_order_relaxed);
}

int main() {
  boost::thread_group group;
  group.create_thread(boost::bind(work, 1000000));
  group.create_thread([] { consume(); });
  group.join_all();
}
