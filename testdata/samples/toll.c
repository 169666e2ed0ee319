// Globals of a toll station, side by side among others: each booth counts what
// it takes in.  PAD gives each booth's pair a line of its own.
#include <pthread.h>
#include <stdio.h>
#ifdef PAD
#define OWN _Alignas(64)
#else
#define OWN
#endif
static const int fare = 3;
_Alignas(64) static char station[16] = "north";
OWN static volatile unsigned long lorries;
OWN static volatile unsigned long cars;
_Alignas(64) static volatile unsigned long opened;
static void *lorry_booth(void *days) {
  for (long i = 0; i < (long)days; i++) {
    unsigned long axles = 2 + (i * 2654435761u >> 9) % 4;
    lorries += axles * fare;
  }
  return 0;
}
static void *car_booth(void *days) {
  for (long i = 0; i < (long)days; i++) {
    unsigned long seats = 2 + (i * 40503u >> 7) % 3;
    if (seats > 2)
      cars += seats * fare;
  }
  return 0;
}
int main(void) {
  pthread_t a, b;
  opened = 1;
  pthread_create(&a, 0, lorry_booth, (void *)600000000L);
  pthread_create(&b, 0, car_booth, (void *)600000000L);
  pthread_join(a, 0), pthread_join(b, 0);
  printf("%s %lu %lu %lu\n", station, lorries, cars, opened);
}
