// LINE: 128
// Elements of whole lines of 64 bytes where lines count as 128: apart only with a guard between them.
// expect: thread-elements-meet medium states
// expect: thread-elements-meet medium lane
// expect: alignment-below-line medium bare.z2
static __thread unsigned self;

struct state {
  unsigned long z1;
  unsigned long z2;
} __attribute__((aligned(64)));

static struct state states[32];

static struct state *own_state(void) { return &states[self]; }

static void step(struct state *state, int times) {
  for (int i = 0; i < times; i++)
    state->z1 += state->z2++;
}

void next_state(int times) { step(own_state(), times); }

// 192 bytes, of which the last 8 are used: beside the first of the next.
struct lane {
  unsigned long first;
  char table[152];
  unsigned long last;
} __attribute__((aligned(64)));

struct road {
  struct lane lanes[8];
};

static void drive(struct lane *lane, int times) {
  for (int i = 0; i < times; i++) {
    lane->first++;
    lane->last++;
  }
}

void travel(struct road *road, int times) {
  unsigned number = self;
  road->lanes[number].first++;
  drive(&road->lanes[number], times);
}

// With a line of padding at the end: nobody uses it, and its alignment is none that is too small.
#define CACHE_ALIGNED __attribute__((aligned(64)))

struct guarded {
  unsigned long z1;
  char guard[64] CACHE_ALIGNED;
};

static struct guarded guarded[32];

static struct guarded *own_guarded(void) { return &guarded[self]; }

static void step_guarded(struct guarded *guarded, int times) {
  for (int i = 0; i < times; i++)
    guarded->z1++;
}

void next_guarded(int times) { step_guarded(own_guarded(), times); }

// The same member where it is used.
struct bare {
  unsigned long z1;
  unsigned long z2 CACHE_ALIGNED;
};

void use_bare(struct bare *bare) {
  bare->z1++;
  bare->z2++;
}
