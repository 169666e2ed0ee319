// Near miss of services_one_after_the_other: one thread is started past the function that starts all others.
// expect: independent-writers medium counts.accepted counts.reaped
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
static struct { atomic_long accepted, reaped; char name[48]; } counts __attribute__((aligned(64)));
struct service { long (*run)(long); long rounds; };
static void *enter(void *given) {
  struct service own = *(struct service *)given;
  free(given);
  return (void *)own.run(own.rounds);
}
static pthread_t start_service(long (*run)(long), long rounds) {
  struct service *one = malloc(sizeof *one);
  pthread_t thread;
  one->run = run;
  one->rounds = rounds;
  if (pthread_create(&thread, 0, enter, one)) abort();
  return thread;
}
static long accept_all(long n) {
  while (n--) atomic_fetch_add(&counts.accepted, 1);
  return 0;
}
static long reap_all(long n) {
  while (n--) atomic_fetch_add(&counts.reaped, 1);
  return 0;
}
int main(void) {
  pthread_t one = start_service(accept_all, 800000);
  pthread_join(one, 0);
  struct service unseen = {rand() ? accept_all : reap_all, 1000}, *copy = malloc(sizeof unseen);
  *copy = unseen;
  pthread_create(&one, 0, enter, copy);
  pthread_t other = start_service(reap_all, 800000);
  pthread_join(other, 0);
  pthread_join(one, 0);
  return (int)(counts.accepted + counts.reaped);
}
