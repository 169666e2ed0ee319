/* A slot that one thread fills and the other empties: flag and value belong to
 * each other and to both. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
static struct mailbox {
  atomic_bool full;
  long letter;
} mailbox __attribute__((aligned(64)));
#define LETTERS 700000
static void *postman(void *arg) {
  for (long i = 0; i < LETTERS; i++) {
    while (atomic_load_explicit(&mailbox.full, memory_order_acquire))
      sched_yield();
    mailbox.letter = i;
    atomic_store_explicit(&mailbox.full, 1, memory_order_release);
  }
  return arg;
}
int main(void) {
  pthread_t thread;
  long sum = 0;
  pthread_create(&thread, NULL, postman, NULL);
  for (long i = 0; i < LETTERS; i++) {
    while (!atomic_load_explicit(&mailbox.full, memory_order_acquire))
      sched_yield();
    sum += mailbox.letter;
    atomic_store_explicit(&mailbox.full, 0, memory_order_release);
  }
  pthread_join(thread, NULL);
  return printf("%ld\n", sum) < 0;
}
