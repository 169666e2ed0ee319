// A function and a function object, each a thread of Boost's.
#include "pair.h"

#include <boost/thread/thread.hpp>

struct Consumer {
  void operator()() const { consume(); }
};

int main() {
  boost::thread first(produce);
  boost::thread second{Consumer()};
  first.join();
  second.join();
}
