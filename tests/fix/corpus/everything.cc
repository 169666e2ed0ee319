// Variables of every kind that C++ has.  All edits together have to compile; each variable then fills whole lines.
#include "everything.h"

namespace app {

std::atomic<long> total{0}, peak{5};
Owner owner(3);
Node *heads[4] = {nullptr};
const char *volatile names[] = {"a", "b", nullptr};
long Owner::made = 0;
Owner::~Owner() { total--; }

namespace {
long hidden = 2;
Node pair = {.next = nullptr, .weight = 3};
Node bare;
struct {
  long x, y;
} unnamed;
struct {
  long z;
} upper, lower{3};
union Word {
  long whole;
  char bytes[8];
} word = {5};
thread_local long per_thread; // refused: each thread has its own
constinit long at_start = 4;
#define CONST_INIT constinit
#define GUARDED_BY(lock)
[[maybe_unused]] CONST_INIT std::atomic<long> at_first GUARDED_BY(none) = 4, at_next GUARDED_BY(none);
long behind alignas(16) = 3;
struct Both {
  long n;
} left, right{3};
auto deduced = 7L; // refused: its type is deduced
decltype(hidden) same = 3;
long (*hook)(int) = nullptr;
long matrix[2][3];
bool flags[8] = {true};
enum class Kind { A, B } kind = Kind::A; // refused: it is declared together with its type
Owner first(1), second(2);
long *pointer = &same;
} // namespace

#define COUNT() (at_start++)

static long use(int total_) {
  auto add = [&](int n) { return n + hidden + total_; };
  if (hook)
    hook(1);
  matrix[0][1]++;
  matrix[1][2] = flags[3] ? 1 : 2;
  unnamed.x++;
  word.whole = 2;
  bare.weight = pair.weight;
  at_first += upper.z++ + lower.z++ + at_next++ + behind++ + left.n++ + right.n++;
  kind = Kind::B;
  COUNT();
  per_thread++;
  deduced++;
  *pointer = same;
  static long runs = 0;
  static Node kept{nullptr, 2};
  total.fetch_add(1);
  app::peak++;
  ::app::owner.get();
  Owner::made++;
  Owner::copies++;
  shared_inline++;
  Per<int>::hits++;
  c_flag = 1;
  names[0] = "q";
  calls()++;
  return add(1) + ++runs + kept.weight + sizeof(hidden) + heads[0]->weight + first.get() + second.get();
}

} // namespace app

int c_flag;

int main() {
  using namespace app;
  total = 4;
  c_flag = 2;
  return static_cast<int>(use(2) + owner.get());
}
