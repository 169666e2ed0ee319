// A text that is made of the arguments is kept under a lock of the program:
// a log, which is written to where something is worth a message.
// no-finding
#include <pthread.h>
#include <stdarg.h>
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

__attribute__((noinline, format(printf, 1, 2))) static void
message(const char *format, ...) {
  char text[64];
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
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
