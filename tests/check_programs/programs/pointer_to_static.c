// The one object of a record has static storage, and code uses it by a pointer: all of it is that variable.
// expect: independent-writers high cell.sent cell.received
#include <pthread.h>
#include <stdatomic.h>

struct cell {
  atomic_long sent;
  atomic_long received;
  long settings[6];
};

static _Alignas(64) struct cell cell;
static struct cell *used = &cell;

static void *receive(void *unused) {
  for (int i = 0; i < 10000000; i++)
    atomic_fetch_add(&used->received, 1);
  return unused;
}

static void *send(void *unused) {
  for (int i = 0; i < 10000000; i++)
    atomic_fetch_add(&cell.sent, 1);
  return unused;
}

int main(void) {
  pthread_t receiving, sending;
  pthread_create(&receiving, 0, receive, 0);
  pthread_create(&sending, 0, send, 0);
  pthread_join(receiving, 0);
  return pthread_join(sending, 0);
}
