// One thread fills a table before it counts down a latch, the other one waits there before it searches.
// no-finding
// ARGS: -std=c++20
#include <latch>
#include <thread>

static std::latch ready{1};
static unsigned long built;
static unsigned long found;

int look(int key);

static void build() {
  for (int i = 0; i < 1000000; i++)
    built += look(i);
  ready.count_down();
}

static void search() {
  ready.wait();
  for (int i = 0; i < 1000000; i++)
    found += look(i);
}

int main() {
  std::thread builder(build), searcher(search);
  builder.join();
  searcher.join();
}
