// Two counters of one record; SLOW takes the padding between them away.
#include "planted.h"

__attribute__((aligned(LINE))) static struct {
  volatile long received;
#ifndef SLOW
  char padding[LINE - sizeof(long)];
#endif
  volatile long sent;
} traffic;

__attribute__((noinline)) static void receive(void) {
  for (int i = 0; i < 200; i++)
    __atomic_fetch_add(&traffic.received, i & 7, __ATOMIC_RELAXED);
}

__attribute__((noinline)) static void send_all(void) {
  for (int i = 0; i < 200; i++)
    __atomic_fetch_add(&traffic.sent, i & 7, __ATOMIC_RELAXED);
}

static void round_of(int worker) {
  if (worker)
    receive();
  else
    send_all();
}

int main(int argc, char **argv) { run(argc, argv); }
