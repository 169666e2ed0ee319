// What decides the order of variables in C++: classes, templates, lambdas, dynamic initialisers and their guards.
#include <string>
#include <vector>

namespace {
int hidden = 1;
int zeroed;
struct Quiet { int depth; };
Quiet quiet{3};
}

extern int made();
struct Registry {
  Registry();
  ~Registry();
  static int instances;
  static long total;
  int id = made();
};
int Registry::instances = 1;
long Registry::total;

static Registry global_registry;
static int computed = made();
inline int shared_inline = 5;
template <class T> struct Count { static T value; };
template <class T> T Count<T>::value = 2;
thread_local int per_thread = 4;
static std::string name = "name";
int plain[9];

static int hop(int x) { static int hops; static Registry late; return x + hops++ + late.id; }
inline int everywhere() { static int times = 3; return times++ + Count<int>::value++; }

Registry::Registry() { total += instances++ + hidden++; }
Registry::~Registry() { instances--; }

int work(int x) {
  static std::vector<int> seen;
  auto step = [x] { return x + computed; };
  seen.push_back(hop(x) + step() + everywhere());
  for (int i = 0; i < x; zeroed++)
    i += quiet.depth++ + per_thread++ + shared_inline++;
  computed += plain[x & 7]++;
  return (int)seen.size() + computed + (int)name.size() + global_registry.id;
}
