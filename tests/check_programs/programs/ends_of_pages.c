// The two ends are 32 bytes apart, on lines of their own where the object begins a line: pages do, and what is handed on.
// no-finding
#include <pthread.h>
#include <sys/mman.h>

struct ends {
  char name[32];
  unsigned long head;
  char middle[24];
  unsigned long tail;
  char rest[56];
};

static void *pages(unsigned long size) {
  void *p = mmap(0, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return p == MAP_FAILED ? 0 : p;
}

static void *memory(unsigned long size) {
  return pages((size + 4095) & ~4095ul);
}

static struct ends *ends;

static void *produce(void *nothing) {
  struct ends *e = ends;
  for (;;)
    __atomic_fetch_add(&e->head, 1, __ATOMIC_RELAXED);
  return nothing;
}

static void *consume(void *nothing) {
  struct ends *e = ends;
  for (;;)
    __atomic_fetch_add(&e->tail, 1, __ATOMIC_RELAXED);
  return nothing;
}

int main(void) {
  pthread_t threads[2];
  ends = memory(sizeof *ends);
  pthread_create(&threads[0], 0, produce, 0);
  pthread_create(&threads[1], 0, consume, 0);
  pthread_join(threads[0], 0);
  pthread_join(threads[1], 0);
}
