// A record that one other alone embeds, and of which nothing makes another: who has a pointer to it uses the whole.
// expect: independent-writers high engine.blocks engine.clock.position
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
  pthread_t mixing, playing;
  if (!all)
    return 1;
  pthread_create(&mixing, 0, mix, all);
  pthread_create(&playing, 0, play, &all->clock);
  pthread_join(mixing, 0);
  return pthread_join(playing, 0);
}
