// Who reads the data counts itself in first: it has the line by then.
// no-finding
#include <pthread.h>
#include <stdatomic.h>
static struct {
  atomic_int readers;
  int generation;
  long value;
} db;
static void rdlock(void) {
  for (;;) {
    int r = atomic_load(&db.readers);
    if (r >= 0 && atomic_compare_exchange_weak(&db.readers, &r, r + 1))
      return;
  }
}
static void rdunlock(void) { atomic_fetch_sub(&db.readers, 1); }
static void *look(void *a) {
  long s = 0;
  for (int i = 0; i < 1000000; i++) {
    rdlock();
    s += db.value + db.generation;
    rdunlock();
  }
  return (void *)s;
}
int main(int argc, char **argv) {
  db.value = argc;
  pthread_t t[4];
  for (int i = 0; i < 4; i++)
    pthread_create(&t[i], 0, look, 0);
  for (int i = 0; i < 4; i++)
    pthread_join(t[i], 0);
  return 0;
}
