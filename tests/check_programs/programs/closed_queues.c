// What a device's closing does to its queues, before it frees them, it does once in their life: nobody reads there what
// is counted beside it for each packet.
// no-finding
#include <stdlib.h>

struct part {
  void *begin;
};

struct queue {
  struct part *parts;
  unsigned count;
  volatile unsigned long packets;
} __attribute__((aligned(64)));

struct device {
  struct queue *queues;
  int many;
};

unsigned poll_queue(struct queue *q, void **out, unsigned most) {
  unsigned got = 0;
  for (unsigned at = 0; got < most; at++) {
    void *one = q->parts[at].begin;
    if (!one)
      break;
    out[got++] = one;
    q->packets++;
  }
  return got;
}

void reset_counts(struct device *d) {
  for (int i = 0; i < d->many; i++)
    d->queues[i].packets = 0;
}

void close_device(struct device *d) {
  for (int i = 0; i < d->many; i++)
    for (unsigned at = 0; at < d->queues[i].count; at++)
      free(d->queues[i].parts[at].begin);
  free(d->queues);
}
