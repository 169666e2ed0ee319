// Connections of a table, in runs of three: each worker serves a run of its
// own, and the runs meet within a line. PAD makes a connection a line.
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#ifdef PAD
#define CONN_ALIGN 64
#else
#define CONN_ALIGN 16
#endif
enum { PER_WORKER = 3, WORKERS = 2 };
struct conn {
  _Alignas(CONN_ALIGN) int fd;
  uint32_t chunk;
  volatile uint64_t received;
};
static struct conn *new_table(size_t count) {
  struct conn *table = aligned_alloc(64, count * 64);
  memset(table, 0, count * 64);
  for (size_t i = 0; i < count; i++) {
    table[i].fd = 3 + (int)i;
    table[i].chunk = 1448;
  }
  return table;
}
static void *serve(void *first) {
  struct conn *const mine = first;
  for (long round = 0; round < 50000000; round++)
    for (int i = 0; i < PER_WORKER; i++)
      mine[i].received += mine[i].chunk;
  return NULL;
}
int main(void) {
  struct conn *table = new_table(PER_WORKER * WORKERS);
  pthread_t worker[WORKERS];
  for (int w = 0; w < WORKERS; w++)
    pthread_create(&worker[w], NULL, serve, &table[w * PER_WORKER]);
  for (int w = 0; w < WORKERS; w++)
    pthread_join(worker[w], NULL);
  return table[0].received == table[5].received ? 0 : 1;
}
