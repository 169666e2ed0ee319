// ARGS: -std=c++20
// A std::jthread is waited for where it is destroyed, in a vector and as a member as well, and so is a thread by the
// destructor of the program's own class: what is started behind that never runs with it.  What was moved somewhere else
// ends there.
// expect: independent-writers high moved.a moved.b
// expect: aligned-tail-free low moved
// expect: aligned-tail-free low held
#include <atomic>
#include <thread>
#include <vector>
struct Counts {
  std::atomic<long> a{0}, b{0};
};
alignas(64) static Counts scoped, held, owned, joined, moved;

static void scoped_a() { for (int i = 0; i < 1000000; i++) scoped.a.fetch_add(1, std::memory_order_relaxed); }
static void scoped_b() { for (int i = 0; i < 1000000; i++) scoped.b.fetch_add(1, std::memory_order_relaxed); }
static void held_a() { for (int i = 0; i < 1000000; i++) held.a.fetch_add(1, std::memory_order_relaxed); }
static void held_b() { for (int i = 0; i < 1000000; i++) held.b.fetch_add(1, std::memory_order_relaxed); }
static void owned_a() { for (int i = 0; i < 1000000; i++) owned.a.fetch_add(1, std::memory_order_relaxed); }
static void owned_b() { for (int i = 0; i < 1000000; i++) owned.b.fetch_add(1, std::memory_order_relaxed); }
static void joined_a() { for (int i = 0; i < 1000000; i++) joined.a.fetch_add(1, std::memory_order_relaxed); }
static void joined_b() { for (int i = 0; i < 1000000; i++) joined.b.fetch_add(1, std::memory_order_relaxed); }
static void moved_a() { for (int i = 0; i < 1000000; i++) moved.a.fetch_add(1, std::memory_order_relaxed); }
static void moved_b() { for (int i = 0; i < 1000000; i++) moved.b.fetch_add(1, std::memory_order_relaxed); }

struct First {
  First() : thread(owned_a) {}
  std::jthread thread;
};
struct Second {
  Second() : thread(owned_b) {}
  std::jthread thread;
};
struct Begin {
  Begin() : thread(joined_a) {}
  ~Begin() { thread.join(); }
  std::thread thread;
};
struct Rest {
  Rest() : thread(joined_b) {}
  ~Rest() { thread.join(); }
  std::thread thread;
};

int main() {
  { std::jthread one(scoped_a); }
  { std::jthread one(scoped_b); }
  {
    std::vector<std::jthread> several;
    for (int i = 0; i < 2; i++) several.emplace_back(held_a);
  }
  {
    std::vector<std::jthread> several;
    for (int i = 0; i < 2; i++) several.emplace_back(held_b);
  }
  { First one; }
  { Second one; }
  { Begin one; }
  { Rest one; }
  std::vector<std::jthread> kept;
  {
    std::jthread one(moved_a);
    kept.push_back(std::move(one));
  }
  {
    std::jthread one(moved_b);
    kept.push_back(std::move(one));
  }
}
