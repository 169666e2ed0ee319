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
static struct {
  long n;
} former, latter = {3};
static long *const *volatile deep __attribute__((unused)) = NULL;
unsigned int wide __attribute__((aligned(16))) = 1;
static long narrow __attribute__((aligned(8), unused)) = 1; /* on the variable it would undo the type's alignment */
static char page[100] __attribute__((aligned(4096)));
#define USED __attribute__((used))
#define COUNTED __attribute__((section(".counted")))
#define LOCAL static
#define SHARED extern
#define EMPTY
static USED long sent COUNTED = 1, received COUNTED = 2;
LOCAL volatile long turns = 5, rounds EMPTY;
SHARED long told, asked EMPTY;
long told = 4, asked;
#define FROM_FOUR = 4
#define SMALL __attribute__((aligned(8), unused))
#define LOCAL_COUNT static long
static long fourth FROM_FOUR;        /* refused: a macro gives it its value */
static long small SMALL;             /* refused: SMALL aligns it and does more */
LOCAL_COUNT local;                   /* refused: LOCAL_COUNT is more than an attribute */
static int from(void), until EMPTY;  /* declared with a function */
static int from(void) { return 3; }

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
  narrow += former.n++ + latter.n++ + page[1] + sent++ + received++ + turns++ + rounds++ + told++ + asked++ + fourth++ + small++ + local++ + from() + until++;
  return *last + (long)(list.next == NULL && knot.next == ring.next) + (deep == NULL);
}
