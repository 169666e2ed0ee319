// A ring between the thread that decodes audio and the callback that plays it: each end has its own position.
// about: audio_ring written played ring
#include <pthread.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct audio_ring {
  float *samples;
  size_t mask;
#ifdef FIXED
  alignas(64) atomic_size_t written;
  alignas(64) atomic_size_t played;
#else
  atomic_size_t written;
  atomic_size_t played;
#endif
};

#ifdef EDIT
int audio_debug;
#endif

extern size_t decode(void *stream, float *into, size_t frames);
extern void sleep_a_little(void);

struct player {
  struct audio_ring *ring;
  void *stream;
  pthread_t decoder;
  atomic_bool quit;
};

struct audio_ring *audio_ring_new(unsigned order) {
#ifdef FIXED
  struct audio_ring *ring = aligned_alloc(64, sizeof *ring);
#else
  struct audio_ring *ring = malloc(sizeof *ring);
#endif
  if (!ring)
    return NULL;
  ring->mask = ((size_t)1 << order) - 1;
  ring->samples = calloc(ring->mask + 1, sizeof *ring->samples);
  atomic_init(&ring->written, 0);
  atomic_init(&ring->played, 0);
  return ring;
}

static size_t ring_space(struct audio_ring *ring) {
  return ring->mask + 1 - (atomic_load_explicit(&ring->written, memory_order_relaxed) -
                           atomic_load_explicit(&ring->played, memory_order_acquire));
}

static void ring_write(struct audio_ring *ring, const float *from, size_t count) {
  size_t at = atomic_load_explicit(&ring->written, memory_order_relaxed);
  for (size_t i = 0; i < count; i++)
    ring->samples[(at + i) & ring->mask] = from[i];
  atomic_store_explicit(&ring->written, at + count, memory_order_release);
}

static size_t ring_read(struct audio_ring *ring, float *into, size_t count) {
  size_t at = atomic_load_explicit(&ring->played, memory_order_relaxed);
  size_t ready = atomic_load_explicit(&ring->written, memory_order_acquire) - at;
  if (count > ready)
    count = ready;
  for (size_t i = 0; i < count; i++)
    into[i] = ring->samples[(at + i) & ring->mask];
  atomic_store_explicit(&ring->played, at + count, memory_order_release);
  return count;
}

static void *decoder_main(void *data) {
  struct player *player = data;
  float block[256];
  while (!atomic_load_explicit(&player->quit, memory_order_relaxed)) {
    if (ring_space(player->ring) < 256) {
      sleep_a_little();
      continue;
    }
    size_t got = decode(player->stream, block, 256);
    if (!got)
      break;
    ring_write(player->ring, block, got);
  }
  return NULL;
}

struct player *player_open(void *stream) {
  struct player *player = calloc(1, sizeof *player);
  player->ring = audio_ring_new(14);
  player->stream = stream;
  pthread_create(&player->decoder, NULL, decoder_main, player);
  return player;
}

void player_callback(void *data, float *out, size_t frames) {
  struct player *player = data;
  size_t got = ring_read(player->ring, out, frames);
  if (got < frames)
    memset(out + got, 0, (frames - got) * sizeof *out);
}
