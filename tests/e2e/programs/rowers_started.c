// How many rowers sit is counted as each is sent to sea, beside the pace that all who are there already look at.
// no-finding
#include <pthread.h>
static struct {
  int seated;
  int pace;
  volatile int ashore;
} boat;
static void *row(void *oar) {
  long pulls = 0;
  while (!boat.ashore)
    pulls += boat.pace;
  return (void *)(pulls + (long)oar);
}
__attribute__((noinline)) static int put_to_sea(int rowers) {
  for (long i = 0; i < rowers; i++) {
    pthread_t t;
    if (pthread_create(&t, 0, row, (void *)i))
      return -1;
    boat.seated++;
  }
  return boat.seated;
}
int main(int argc, char **argv) {
  boat.pace = argc;
  return put_to_sea(argc + 7);
}
