// A queue on the heap whose ends two workers keep; SLOW puts the name behind
// both of them.
#include "planted.h"

struct queue {
  volatile long pushed;
#ifndef SLOW
  char name[120];
#endif
  volatile long popped;
#ifdef SLOW
  char name[120];
#endif
};

static struct queue *queue;

__attribute__((noinline)) static void push(struct queue *q) {
  for (int i = 0; i < 200; i++)
    __atomic_fetch_add(&q->pushed, i & 7, __ATOMIC_RELAXED);
}

__attribute__((noinline)) static void pop(struct queue *q) {
  for (int i = 0; i < 200; i++)
    __atomic_fetch_add(&q->popped, i & 7, __ATOMIC_RELAXED);
}

static void round_of(int worker) {
  if (worker)
    push(queue);
  else
    pop(queue);
}

int main(int argc, char **argv) {
  queue = aligned_alloc(LINE, 4 * LINE);
  memset(queue, 0, sizeof *queue);
  run(argc, argv);
}
