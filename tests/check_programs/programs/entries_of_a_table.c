// The roles of threads stand in a table: each is an entry, and what two of them write lies on one line.
// expect: independent-writers high tank.poured tank.drunk
#include <pthread.h>
#include <stdatomic.h>

struct tank { _Alignas(64) atomic_long poured; atomic_long drunk; };
static struct tank tank;

static void *pour(void *p) {
  for (long i = 0; i < 10000000; i++)
    atomic_fetch_add_explicit(&tank.poured, 1, memory_order_relaxed);
  return p;
}
static void *drink(void *p) {
  for (long i = 0; i < 10000000; i++)
    atomic_fetch_add_explicit(&tank.drunk, 1, memory_order_relaxed);
  return p;
}

static const struct role {
  const char *name;
  void *(*run)(void *);
} roles[] = {{"pour", pour}, {"drink", drink}};

int main(void) {
  pthread_t t[2];
  for (int i = 0; i < 2; i++)
    pthread_create(&t[i], 0, roles[i].run, 0);
  for (int i = 0; i < 2; i++)
    pthread_join(t[i], 0);
}
