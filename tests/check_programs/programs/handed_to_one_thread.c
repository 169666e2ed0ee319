// One thread is started for each call: the table is changed by one thread alone, whatever it is handed.
// no-finding
#include <pthread.h>
#include <stdlib.h>

typedef void (*work)(int id);
struct member { pthread_t thread; int id; work run; };

static volatile int running = 1;
static long hits[8];

static void *begin(void *argument) {
  struct member *self = argument;
  self->run(self->id);
  return 0;
}

static void count(int id) {
  for (; running; id = (id + 1) % 8) __atomic_fetch_add(&hits[id], 1, __ATOMIC_RELAXED);
}

struct member *start(int id, work run) {
  struct member *member = calloc(1, sizeof *member);
  member->id = id;
  member->run = run;
  pthread_create(&member->thread, 0, begin, member);
  return member;
}

int main(int argc, char **argv) {
  struct member *member = start(argc, count);
  pthread_join(member->thread, 0);
  return argv[0] == 0;
}
