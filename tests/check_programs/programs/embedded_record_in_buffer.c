// A record that one other embeds, and that is cut out of a buffer as well.
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

static _Alignas(64) char buffer[256];

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
  struct transport *apart = (struct transport *)(buffer + 64);
  pthread_t mixing, playing;
  if (!all)
    return 1;
  pthread_create(&mixing, 0, mix, all);
  pthread_create(&playing, 0, play, apart);
  pthread_join(mixing, 0);
  return pthread_join(playing, 0);
}
