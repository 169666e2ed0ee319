// Counters of a packet processor's node, one element for each thread, at the index that the thread's main record has.
// about: per_thread_t
#include <stdint.h>
#include <stdlib.h>

typedef struct {
#ifdef FIXED
  uint8_t cacheline0[0] __attribute__((aligned(64)));
#endif
  uint64_t packets;
  uint64_t bytes;
  uint32_t drops;
  uint32_t next_port;
#ifdef EDIT
  uint32_t last_error;
#endif
} per_thread_t;

typedef struct {
  uint32_t thread_index;
  uint64_t now;
} main_t;

typedef struct {
  per_thread_t *per_thread;
  uint32_t threads;
  uint32_t ports;
} node_main_t;

typedef struct {
  uint32_t length;
  uint32_t flags;
} packet_t;

static node_main_t node_main;

int node_init(uint32_t threads) {
#ifdef FIXED
  node_main.per_thread = aligned_alloc(64, threads * sizeof(per_thread_t));
#else
  node_main.per_thread = calloc(threads, sizeof(per_thread_t));
#endif
  node_main.threads = threads;
  return node_main.per_thread == NULL;
}

uint32_t node_process(main_t *vm, packet_t **packets, uint32_t n) {
  per_thread_t *pt = &node_main.per_thread[vm->thread_index];
  for (uint32_t i = 0; i < n; i++) {
    if (packets[i]->flags & 1) {
      pt->drops++;
      continue;
    }
    pt->packets++;
    pt->bytes += packets[i]->length;
    pt->next_port = (pt->next_port + 1) % node_main.ports;
  }
  return n;
}

uint64_t node_packets(void) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < node_main.threads; i++)
    sum += node_main.per_thread[i].packets;
  return sum;
}
