// Elements at the running thread's number that are used behind a pointer: returned by a function, or handed on.
// expect: thread-elements-meet medium generators
// expect: thread-elements-meet medium core
// Near misses: padded elements, elements at a number that is no thread's, and set-up of a new object.
#include <stdlib.h>

static __thread unsigned self;

struct generator {
  unsigned long state;
  unsigned long calls;
};

static struct generator generators[32];

static struct generator *own_generator(void) { return &generators[self]; }

static unsigned long step(struct generator *generator, int times) {
  for (int i = 0; i < times; i++) {
    generator->state = generator->state * 69069 + 1;
    generator->calls++;
  }
  return generator->state;
}

unsigned long next_number(int times) { return step(own_generator(), times); }

struct core {
  unsigned long polls;
  char table[64];
  unsigned long events;
};

struct service {
  int device;
  struct core cores[16];
};

static void process(struct core *core, int events) {
  for (int i = 0; i < events; i++) {
    core->polls++;
    core->events++;
  }
}

void poll_device(struct service *service, int events) {
  unsigned number = self;
  service->cores[number].polls++;
  process(&service->cores[number], events);
}

struct padded {
  unsigned long polls;
  unsigned long events;
} __attribute__((aligned(64)));

static struct padded padded[16];

static struct padded *own_padded(void) { return &padded[self]; }

void poll_padded(int events) {
  struct padded *mine = own_padded();
  for (int i = 0; i < events; i++)
    mine->polls++;
}

struct row {
  unsigned long hits;
  char text[64];
  unsigned long misses;
};

static struct row rows[128];

static struct row *row_at(unsigned key) { return &rows[key % 128]; }

void note_row(unsigned key, int hits) {
  struct row *row = row_at(key);
  for (int i = 0; i < hits; i++) {
    row->hits++;
    row->misses++;
  }
}
