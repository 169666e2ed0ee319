#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#define CONNECTIONS 4096
struct connection {
  int socket;
  atomic_int holders;
  /* by the thread that receives */
  unsigned long received; // bytes
  struct connection *next;
  char peer[80];
};
static struct connection *table[CONNECTIONS];
static struct connection none = {.socket = -1, .received = 0};
static void *receive(void *argument) {
  for (unsigned i = 0; i < 1000000000; i++)
    table[i % CONNECTIONS]->received += i;
  return argument;
}
static void *hold(void *argument) {
  for (unsigned i = 0; i < 1000000000; i++)
    atomic_fetch_add(&table[i % CONNECTIONS]->holders, 1);
  return argument;
}
int main(void) {
  pthread_t threads[2];
  for (int i = 0; i < CONNECTIONS; i++) {
    table[i] = calloc(1, sizeof(struct connection));
    table[i]->next = &none;
  }
  pthread_create(&threads[0], 0, receive, 0);
  pthread_create(&threads[1], 0, hold, 0);
  pthread_join(threads[0], 0);
  pthread_join(threads[1], 0);
  return table[1]->next->socket;
}
