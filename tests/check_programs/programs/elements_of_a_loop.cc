// ARGS: -std=c++17
// Threads of C++ that are started in a loop over all elements of a vector, with a method, a lambda or an object that
// keeps a reference: each has an element of its own, and neighbours meet where these are no whole lines.
// expect: thread-elements-meet medium Counter
// expect: thread-elements-meet medium Tally
// expect: thread-elements-meet medium Total
#include <deque>
#include <functional>
#include <thread>
#include <vector>

struct Counter {
  unsigned long odd = 0, even = 0;
  void add(unsigned long n) { n & 1 ? odd++ : even++; }
  void run() {
    for (unsigned long n = 0; n < 1000000; n++) add(n);
  }
};
struct Tally {
  unsigned long odd = 0, even = 0;
  void add(unsigned long n) { n & 1 ? odd++ : even++; }
  void run() {
    for (unsigned long n = 0; n < 1000000; n++) add(n);
  }
};
struct Total {
  unsigned long odd = 0, even = 0;
  void add(unsigned long n) { n & 1 ? odd++ : even++; }
};
class Adder {
 public:
  explicit Adder(Total &total) : total(total) {}
  void operator()() const {
    for (unsigned long n = 0; n < 1000000; n++) total.add(n);
  }

 private:
  Total &total;
};
struct alignas(64) Apart {
  unsigned long odd = 0, even = 0;
  void add(unsigned long n) { n & 1 ? odd++ : even++; }
  void run() {
    for (unsigned long n = 0; n < 1000000; n++) add(n);
  }
};
struct Shared {  // one of these is used by all threads of a loop
  unsigned long bound = 1000000;
  void run() {
    for (unsigned long n = 0; n < bound; n++) std::this_thread::yield();
  }
};

int main() {
  std::vector<Counter> counters(4);
  std::vector<Tally> tallies(4);
  std::vector<Apart> apart(4);
  std::deque<Total> totals;
  Shared shared;
  std::vector<std::thread> threads;
  for (auto &one : counters) threads.emplace_back(&Counter::run, &one);
  for (auto &one : tallies) threads.emplace_back([&one] { one.run(); });
  for (auto &one : apart) threads.emplace_back(&Apart::run, &one);
  for (int i = 0; i < 4; i++) {
    Total &total = totals.emplace_back();
    threads.emplace_back(Adder(total));
  }
  for (int i = 0; i < 4; i++) threads.emplace_back(&Shared::run, &shared);
  for (auto &thread : threads) thread.join();
}
