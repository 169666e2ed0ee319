// Two C11 threads count bricks into a struct on the stack of main, each its own kind.
#include <stdint.h>
#include <stdio.h>
#include <threads.h>
struct load {
#ifdef PAD
  _Alignas(128)
#endif
  uint64_t fired;
#ifdef PAD
  _Alignas(128)
#endif
  uint64_t broken;
};
struct shift {
  struct load *load;
  uint32_t seed;
  int breaks;
};
static uint32_t draw(uint32_t *seed) {
  *seed ^= *seed << 13;
  *seed ^= *seed >> 17;
  *seed ^= *seed << 5;
  return *seed;
}
static int burn(void *arg) {
  struct shift *shift = arg;
  struct load *load = shift->load;
  uint32_t seed = shift->seed;
  for (long i = 0; i < 240000000; i++) {
    uint32_t heat = draw(&seed);
    if (shift->breaks)
      load->broken += heat >> 31;
    else
      load->fired += heat & 1;
    __asm__ volatile("" ::: "memory");
  }
  return 0;
}
int main(void) {
  struct load load = {0};
  _Alignas(64) struct shift first = {&load, 11, 0};
  _Alignas(64) struct shift second = {&load, 77, 1};
  thrd_t one, two;
  thrd_create(&one, burn, &first);
  thrd_create(&two, burn, &second);
  thrd_join(one, NULL);
  thrd_join(two, NULL);
  printf("%lu %lu\n", (unsigned long)load.fired, (unsigned long)load.broken);
  return 0;
}
