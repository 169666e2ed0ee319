// As once_functions.c, but by a function that calls what it is handed each time.
// expect: independent-writers high table.filled table.asked
#include <pthread.h>
static pthread_once_t made = PTHREAD_ONCE_INIT;
static struct {
  _Alignas(64) _Atomic long filled;
  _Atomic long asked;
} table;

static void fill(void) {
  for (int i = 0; i < 1000; i++)
    table.filled++;
}

static void always(pthread_once_t *once, void (*call)(void)) {
  if (once)
    call();
}

static void *count(void *a) {
  for (;;)
    table.asked++;
  return a;
}

static void *ask(void *a) {
  for (;;)
    always(&made, fill);
  return a;
}

int main(void) {
  pthread_t t[3];
  pthread_create(&t[0], 0, ask, 0);
  pthread_create(&t[1], 0, ask, 0);
  pthread_create(&t[2], 0, count, 0);
  for (int i = 0; i < 3; i++)
    pthread_join(t[i], 0);
  return 0;
}
