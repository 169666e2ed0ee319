// The same function is handed a thread's number and another one: nothing says that elements are threads' own.
// expect: packed-thread-slots low last
// expect: written-beside-read-mostly low last keys
#include <pthread.h>
#include <stdint.h>
static volatile uint32_t last[16];
static uint32_t keys[4096];

static void use(int i, uint32_t n) { last[i] = n; }

static void *work(void *number) {
  long id = (unsigned long)number;
  for (uint32_t n = 0;; n++) {
    use(id, n);
    use(keys[n % 4096] % 16, n);
  }
}

int main(void) {
  for (long i = 0; i < 16; i++) {
    pthread_t thread;
    pthread_create(&thread, 0, work, (void *)i);
  }
  work((void *)0);
}
