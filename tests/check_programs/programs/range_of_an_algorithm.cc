// Of what an algorithm is given, the ends of a range, no thread has an element to itself: it divides the range. What a
// task is made of is its own.
// expect: thread-elements-meet medium tallies
namespace tbb {
template <typename It, typename Compare>
void parallel_sort(It begin, It end, const Compare &compare);
class task_group {
 public:
  template <typename F>
  void run(const F &function);
  void wait();
};
}  // namespace tbb

struct Word {
  unsigned value;
  Word &operator=(unsigned to) {
    value = to;
    return *this;
  }
};
struct Entry {
  Word from, to;
};
struct Tally {
  unsigned long done, bytes;
};

static char *image;
static Tally tallies[8];

static void fill(Entry *to, unsigned long count) {
  for (unsigned long n = 0; n < count; n++) {
    Entry made = {{unsigned(n)}, {unsigned(n * 3)}};
    to[n * 7 % count] = made;
  }
}

void finish(unsigned long at, unsigned long count) {
  Entry *entries = (Entry *)(image + at);
  fill(entries, count);
  tbb::parallel_sort(entries, entries + count, [](const Entry &a, const Entry &b) { return a.from.value < b.from.value; });
}

int main(int argc, char **) {
  image = new char[1 << 20];
  tbb::task_group group;
  for (int i = 0; i < 8; i++) {
    Tally &mine = tallies[i];
    group.run([&mine, argc, i] {
      for (int n = 0; n < argc; n++) {
        mine.done++;
        mine.bytes += unsigned(n);
      }
      finish(unsigned(i) << 16, unsigned(argc));
    });
  }
  group.wait();
}
