// Small objects of one thread each, allocated one after the other by a third:
// neighbours on the heap.
#include "apart.h"

struct session {
  uint64_t bytes_in, bytes_out, packets;
};

static struct session *sessions[2];

static struct session *new_session(void) {
#ifdef PADDED
  struct session *made = aligned_alloc(64, 64);
#else
  struct session *made = malloc(sizeof(*made));
#endif
  if (!made)
    exit(1);
  made->bytes_in = made->bytes_out = made->packets = 0;
  return made;
}

static void *transfer(void *number) {
  volatile struct session *own = sessions[(intptr_t)number];
  uint64_t size = 7;
  for (long i = 0; i < 30000000; i++) {
    size = compute(size, 6);
    if (size >> 63)
      own->bytes_in += size >> 54;
    else
      own->bytes_out += size >> 54;
    own->packets++;
  }
  return NULL;
}

int main(void) {
  // The first object of a fresh heap starts at 16 modulo 64: this one fills up
  // to the end of the line.
  void *first = malloc(40);
  sessions[0] = new_session();
  sessions[1] = new_session();
  run_threads(transfer, 2);
  printf("%llu %d\n",
         (unsigned long long)(sessions[0]->packets + sessions[1]->packets),
         first != NULL);
}
