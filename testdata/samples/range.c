// A record on main's stack that both threads write; PAD parts its members.
#include <pthread.h>
#ifdef PAD
#define OWN _Alignas(64)
#else
#define OWN
#endif
struct range {
  OWN volatile unsigned long low;
  OWN volatile unsigned long high;
};
static void *raise_low(void *p) {
  struct range *r = p;
  for (long i = 0; i < 240000000; i++)
    r->low++;
  return 0;
}
static void *lower_high(void *p) {
  struct range *r = p;
  for (long i = 0; i < 240000000; i++)
    r->high--;
  return 0;
}
int main(void) {
  _Alignas(64) struct range both = {0, 0};
  pthread_t a, b;
  pthread_create(&a, 0, raise_low, &both),
      pthread_create(&b, 0, lower_high, &both);
  pthread_join(a, 0), pthread_join(b, 0);
}
