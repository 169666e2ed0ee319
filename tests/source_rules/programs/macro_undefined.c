// No header defines the macro: it is a variable now, and nothing is aligned.
// expect: alignment-macro-as-name medium __cacheline_aligned
struct counters {
  long hits;
  long misses;
} __cacheline_aligned;

static struct counters counters[16];

void count(int self) { counters[self].hits++; }
