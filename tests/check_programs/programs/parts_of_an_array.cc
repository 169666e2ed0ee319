// ARGS: -std=c++17
// Threads are started with a place in an array each. Those that go on from there, by a pointer or at an index that they
// count up, fill a part of it: two of them meet at the ends of their parts alone. One that changes what it was started
// with again and again has that element, and neighbours meet.
// expect: thread-elements-meet medium Tally
// expect: packed-thread-slots medium Strided
#include <thread>
#include <vector>

struct Relocation {
  unsigned long offset = 0, type = 0;
  long addend = 0;
};
struct Entry {
  unsigned from = 0, to = 0;
};
struct Row {
  unsigned long key = 0, sum = 0, last = 0;
  void add(unsigned long n) { sum += n, last = n; }
};
struct Tally {
  unsigned long done = 0, bytes = 0, last = 0;
};
struct Strided {
  unsigned long done = 0, bytes = 0, last = 0;
};

static void by_pointer(Relocation *to, const unsigned long *from, unsigned long count) {
  for (unsigned long n = 0; n < count; n++) {
    to->offset = from[n];
    to->type = n & 7;
    to->addend = long(n);
    to++;
  }
}
static void by_index(Entry *to, const unsigned long *from, unsigned long count) {
  unsigned long used = 0;
  for (unsigned long n = 0; n < count; n++)
    if (from[n]) {
      to[used].from = unsigned(n);
      to[used++].to = unsigned(from[n]);
    }
}
static void by_method(Row *to, const unsigned long *from, unsigned long count) {
  for (Row *end = to + count; to < end; ++to) {
    to->key = *from;
    for (int n = 0; n < 8; n++) to->add(*from++);
  }
}
static void same(Tally *mine, const unsigned long *from, unsigned long count) {
  for (unsigned long n = 0; n < count; n++) {
    mine->done++;
    mine->bytes += from[n];
    mine->last = n;
  }
}
// The neighbours of an element are those of other threads.
static void by_threads(Strided *mine, const unsigned long *from, unsigned long count, unsigned threads) {
  for (unsigned long n = 0; n < count; n++) {
    mine->done++;
    mine->bytes += from[n];
    mine->last = n;
    mine += threads;
  }
}

int main(int argc, char **) {
  const unsigned long count = unsigned(argc) * 1000ul;
  std::vector<unsigned long> from(count * 8, 1);
  std::vector<Relocation> relocations(count * 4);
  std::vector<Entry> entries(count * 4);
  std::vector<Row> rows(count * 4);
  std::vector<Tally> tallies(4);
  std::vector<Strided> strided(count * 4);
  std::vector<std::thread> threads;
  for (unsigned t = 0; t < 4; t++) {
    threads.emplace_back(by_pointer, &relocations[t * count], from.data(), count);
    threads.emplace_back(by_index, &entries[t * count], from.data(), count);
    threads.emplace_back(by_method, &rows[t * count], from.data(), count);
    threads.emplace_back(same, &tallies[t], from.data(), count);
    threads.emplace_back(by_threads, &strided[t], from.data(), count, 4u);
  }
  for (auto &thread : threads) thread.join();
}
