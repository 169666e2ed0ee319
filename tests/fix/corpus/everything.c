/* Variables of every kind that C has.  All edits together have to compile; each variable then fills whole lines. */
#include <stddef.h>

typedef struct {
  long n;
} pair_t;
struct link {
  struct link *next;
};
struct stats {
  long reads;
};

static long hits = 3, misses, *last = &misses;
static pair_t pairs[3] = {{1}, {2}, {3}};
struct chain {
  struct chain *next;
};
static struct chain list = {&list}; /* nothing else has its type */
static struct link knot;
static struct link ring = {&ring}; /* refused: its declaration refers to itself */
struct stats stats;
static void (*hook)(int);
static const char *const *volatile words;
static long sizes[] = {1, 2, 3};
static _Thread_local long own; /* refused: each thread has its own */
static enum { IDLE, BUSY } state; /* refused: it is declared together with its type */
static struct {
  char *data;
  size_t size;
} buffer;
static long *const *volatile deep __attribute__((unused)) = NULL;
unsigned int wide __attribute__((aligned(16))) = 1;

#define BUMP(by) (hits += (by))
#define FIRST pairs[0].n

long touch(struct stats *other, long misses_) {
#if defined(NEVER)
  if (hits > 2) {
#else
  if (other->reads > hits) {
#endif
    long misses = 2; /* hides the static */
    BUMP(misses);
  }
  for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
    misses += sizes[i] * misses_;
  static int calls;
  calls++;
  if (hook)
    hook(calls);
  state = state == IDLE ? BUSY : IDLE;
  buffer.size = FIRST + stats.reads + own + (words != NULL) + wide;
  return *last + (long)(list.next == NULL && knot.next == ring.next) + (deep == NULL);
}
