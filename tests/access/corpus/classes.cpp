// Static members, inline and template variables, guarded statics, virtual calls, exceptions, lambdas.
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <stdexcept>
#include <string>
#include <vector>

namespace server {
struct Registry {
  static int live;
  static std::atomic<long> generation;
  static std::mutex guard;
  std::vector<int> entries;
  virtual ~Registry() { live--; }
  virtual int size() const { return static_cast<int>(entries.size()) + live; }
};
int Registry::live = 0;
std::atomic<long> Registry::generation{1};
std::mutex Registry::guard;
inline int inlined = 5;
template <typename T> T largest{};
template <typename T> void offer(T v) {
  if (v > largest<T>)
    largest<T> = v;
}
struct Logging : Registry {
  int size() const override { return 2 * live; }
};
} // namespace server

static server::Registry first;
static server::Logging second;
static server::Registry *active = &first;
static thread_local int depth;
static std::string banner;
static int failures;
static std::once_flag once;
static long sums[3][5];

server::Registry &lazily() {
  static server::Registry made;
  static const int limit = std::atoi("7");
  depth++;
  server::inlined += limit;
  return made;
}
int dispatch() { return active->size() + lazily().size() + second.size(); }
void select_second(bool yes) { active = yes ? &second : &first; }
void locked() {
  std::lock_guard<std::mutex> hold(server::Registry::guard);
  server::Registry::live++;
  first.entries.push_back(server::Registry::live);
}
int risky(int n) {
  try {
    if (n > 3)
      throw std::runtime_error("n");
    server::offer(n);
    server::offer(2.5 * n);
    return banner.size();
  } catch (const std::exception &) {
    failures++;
    return -failures;
  }
}
long sum_rows(int row) {
  auto add = [](int r) {
    long s = 0;
    for (long v : sums[r])
      s += v;
    return s;
  };
  std::call_once(once, [] { sums[1][2] = 9; });
  return add(row) + add(2);
}
long bump() { return server::Registry::generation.fetch_add(1) + server::Registry::generation.load(); }
int main(int argc, char **) {
  locked();
  select_second(argc > 1);
  return dispatch() + risky(argc) + static_cast<int>(sum_rows(argc) + bump());
}
