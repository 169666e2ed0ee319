// Pages are counted in and out by helpers, and looked at once in between: the line came with the count.
// Source does not tell that helper and look are one after the other: low, as of what threads change each round.
// no-finding
// expect-of-source: written-beside-read-mostly low page.users page.colour
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
struct page {
  _Alignas(64) unsigned users;
  unsigned colour, gradient;
};
static struct page *pages[8];
static int stop;
static unsigned size;
__attribute__((noinline)) struct page *pin(unsigned n) {
  struct page *page = pages[n % 8];
  __atomic_fetch_add(&page->users, 1, __ATOMIC_ACQUIRE);
  return page;
}
__attribute__((noinline)) void unpin(struct page *page) {
  __atomic_fetch_sub(&page->users, 1, __ATOMIC_RELEASE);
}
static void *paint(void *given) {
  unsigned *to = given, x = 1;
  while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) {
    x = x * 1664525 + 1013904223;
    struct page *page = pin(x >> 8);
    unsigned i = x % size;
    to[i] += page->colour + i * page->gradient;
    unpin(page);
  }
  return NULL;
}
int main(int argc, char **argv) {
  (void)argv;
  size = 64u * (unsigned)argc;
  for (unsigned i = 0; i < 8; i++) {
    pages[i] = aligned_alloc(64, sizeof *pages[i]);
    *pages[i] = (struct page){0, i, i + 1};
  }
  pthread_t painters[4];
  for (int i = 0; i < 4; i++)
    pthread_create(&painters[i], NULL, paint, calloc(size, sizeof(unsigned)));
  sleep(1);
  __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
  for (int i = 0; i < 4; i++)
    pthread_join(painters[i], NULL);
}
