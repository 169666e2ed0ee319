// The header of a ring in shared memory: one process writes at its head, another one reads at its tail.
// about: head tail
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

struct ring {
  uint32_t size;
  uint32_t mask;
#ifdef FIXED
  _Alignas(64) _Atomic uint32_t head;
  _Alignas(64) _Atomic uint32_t tail;
#else
  _Atomic uint32_t head;
  _Atomic uint32_t tail;
#endif
#ifdef EDIT
  uint32_t reserved;
#endif
};

int ring_write(struct ring *ring, unsigned char *data, const void *from, uint32_t size) {
  uint32_t head = atomic_load_explicit(&ring->head, memory_order_relaxed);
  uint32_t tail = atomic_load_explicit(&ring->tail, memory_order_acquire);
  if (ring->size - (head - tail) < size)
    return -1;
  for (uint32_t i = 0; i < size; i++)
    data[(head + i) & ring->mask] = ((const unsigned char *)from)[i];
  atomic_store_explicit(&ring->head, head + size, memory_order_release);
  return 0;
}

int ring_read(struct ring *ring, const unsigned char *data, void *to, uint32_t size) {
  uint32_t tail = atomic_load_explicit(&ring->tail, memory_order_relaxed);
  uint32_t head = atomic_load_explicit(&ring->head, memory_order_acquire);
  if (head - tail < size)
    return -1;
  for (uint32_t i = 0; i < size; i++)
    ((unsigned char *)to)[i] = data[(tail + i) & ring->mask];
  atomic_store_explicit(&ring->tail, tail + size, memory_order_release);
  return 0;
}
