// As closed_queues.c, but the function that looks at the parts of all queues frees nothing: it may do so at any time.
// expect: written-beside-read-mostly low queue.packets queue.parts

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

unsigned long watch_device(struct device *d) {
  unsigned long found = 0;
  for (int i = 0; i < d->many; i++)
    for (unsigned at = 0; at < d->queues[i].count; at++)
      found += d->queues[i].parts[at].begin != 0;
  return found;
}
