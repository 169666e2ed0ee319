// Two threads at the same two rings, which are long, and in a table of words.
#include <pthread.h>

enum { ADDS = 20000, WORDS = 4096 };

struct ring {
  volatile unsigned long head, tail;
  volatile unsigned slot[500];
} __attribute__((aligned(64)));

struct ring rings[2];
volatile unsigned long table[WORDS] __attribute__((aligned(64)));
static pthread_barrier_t start __attribute__((aligned(64)));

static void *producer(void *lane) {
  pthread_barrier_wait(&start);
  for (unsigned i = 0; i < ADDS; i++) {
    rings[(long)lane].slot[i % 500] = i;
    rings[(long)lane].head++;
  }
  pthread_barrier_wait(&start);
  return lane;
}

static void *consumer(void *lane) {
  pthread_barrier_wait(&start);
  for (unsigned i = 0; i < ADDS; i++) {
    rings[(long)lane].tail++;
    table[i * 7 % WORDS] = i;
  }
  pthread_barrier_wait(&start);
  return lane;
}

int main(int argc, char **argv) {
  pthread_t threads[2];
  void *lane = (void *)(long)(argc > 2);
  pthread_barrier_init(&start, NULL, 2);
  pthread_create(&threads[0], NULL, producer, lane);
  pthread_create(&threads[1], NULL, consumer, lane);
  for (int i = 0; i < 2; i++)
    pthread_join(threads[i], NULL);
  return 0;
}
