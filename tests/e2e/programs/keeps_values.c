// What is kept under the lock is made of numbers, and by no function for
// texts: it may be what the program is there for.
// expect: hot-lock-shares-line high shared.lock shared.served
#include <pthread.h>
#include <stdio.h>
static struct {
  volatile long kept;
  char texts[64][64];
} log_ __attribute__((aligned(64)));
static struct {
  pthread_mutex_t lock;
  volatile long served;
  char rest[16];
} shared __attribute__((aligned(64))) = {PTHREAD_MUTEX_INITIALIZER, 0, {0}};
static struct {
  volatile long value;
  char rest[56];
} one __attribute__((aligned(64))), two __attribute__((aligned(64)));

__attribute__((noinline)) static void message(const char *format, long value) {
  char text[64];
  for (int i = 0; i < 63; i++)
    text[i] = (char)(format[i & 3] + value);
  pthread_mutex_lock(&shared.lock);
  for (int i = 0; i < 63; i++)
    log_.texts[log_.kept % 64][i] = text[i];
  log_.kept++;
  pthread_mutex_unlock(&shared.lock);
}
static void *first(void *arg) {
  for (long i = 0; i < 100000000; i++) {
    one.value++;
    message("first %ld", i);
  }
  return arg;
}
static void *second(void *arg) {
  for (long i = 0; i < 100000000; i++) {
    two.value++;
    message("second %ld", i);
  }
  return arg;
}
static void *serve(void *arg) {
  for (long i = 0; i < 100000000; i++)
    shared.served++;
  return arg;
}
int main(void) {
  pthread_t threads[3];
  pthread_create(&threads[0], 0, first, 0);
  pthread_create(&threads[1], 0, second, 0);
  pthread_create(&threads[2], 0, serve, 0);
  pthread_join(threads[0], 0);
  pthread_join(threads[1], 0);
  pthread_join(threads[2], 0);
  printf("%s %ld\n", log_.texts[0], log_.kept);
}
