// A record that one other embeds, but of which another object is allocated: what a pointer leads to is either.
// no-finding
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct transport {
  long tempo;
  atomic_long position;
};

struct engine {
  atomic_long blocks;
  struct transport clock;
};

static void *mix(void *given) {
  struct engine *all = given;
  for (int i = 0; i < 10000000; i++)
    atomic_fetch_add(&all->blocks, 1);
  return 0;
}

static void *play(void *given) {
  struct transport *own = given;
  for (int i = 0; i < 10000000; i++)
    atomic_fetch_add(&own->position, 1);
  return 0;
}

int main(void) {
  struct engine *all = aligned_alloc(64, 64);
  struct transport *apart = aligned_alloc(64, sizeof *apart);
  pthread_t mixing, playing;
  if (!all || !apart)
    return 1;
  pthread_create(&mixing, 0, mix, all);
  pthread_create(&playing, 0, play, apart);
  pthread_join(mixing, 0);
  return pthread_join(playing, 0);
}
