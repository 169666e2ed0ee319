// A table with what each role runs and what prints it: threads run the first, main alone calls the second.
// no-finding
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

struct tank { _Alignas(64) atomic_long poured; long printed; };
static struct tank tank;

static void *pour(void *p) {
  for (long i = 0; i < 10000000; i++)
    atomic_fetch_add_explicit(&tank.poured, 1, memory_order_relaxed);
  return p;
}
static void *print(void *p) {
  for (long i = 0; i < 1000; i++)
    tank.printed += printf("%ld\n", tank.printed);
  return p;
}

static const struct role {
  const char *name;
  void *(*run)(void *);
  void *(*show)(void *);
} roles[] = {{"pour", pour, print}};

int main(int argc, char **argv) {
  pthread_t t;
  for (int i = 0; i < 1; i++)
    pthread_create(&t, 0, roles[i].run, 0);
  pthread_join(t, 0);
  roles[argc - 1].show(argv);
}
