/* What the optimisers make of loops, locks and pointers.  See kinds.c for the form. */
#include <pthread.h>
#include <stddef.h>
#include <string.h>

struct entry { long key; int hits; int owner; };
struct entry table[64];
long total;
int limit = 10;
static int events, nested[8][8];
char buffer[4096];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
volatile int stop_requested;
int seen(long);
void use(void *);

void once(void) {
  events++; // expect[x86-64]: rmw events+0 4 loop=0
} // expect[aarch64]: load events+0 4 loop=0
// expect[aarch64]: store events+0 4 loop=0
// expect[riscv64]: load events+0 4 loop=0
// expect[riscv64]: store events+0 4 loop=0
void waiting(void) {
  while (!stop_requested) // expect: load stop_requested+0 4 loop=1
    ;
}
int in_loop(int n) {
  int calls = 0;
  for (int i = 0; i < n; i++)
    if (seen(i))
      calls += limit; // expect: load limit+0 4 loop=1
  return calls;
}
void two_deep(int n) {
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++)
      if (seen(j))
        total = i; // expect: store total+0 8 loop=2
    seen(i);
  }
}
void guarded(long v) {
  pthread_mutex_lock(&lock);   // expect: address lock+0 0
  total = v;                   // expect: store total+0 8
  pthread_mutex_unlock(&lock);
}
int find(long key) {
  for (struct entry *e = table; e < table + 64; e++) // expect?: address table+0 0
    if (e->key == key) // expect[gcc]: load table+0 8 stride=16 loop=1
      return 1;
  return 0;
} // expect?[clang]: load table+0 8 stride=16
// expect?[clang]: load table+0 8
// expect?[clang]: load table+16 8 stride=16 loop=1
// expect?: address table+1024 0
void through_member(size_t i) {
  struct entry *e = &table[i];
  e->hits = (int)i; // expect: store table+8 4 stride=16
  e->key = -1;      // expect: store table+0 8 stride=16
}
void clear(void) {
  memset(buffer, 0, sizeof buffer); // expect[clang]: address buffer+0 0
} // expect[gcc x86-64]: store buffer+0 4096
// expect[gcc aarch64]: address buffer+0 0
// expect[gcc riscv64]: address buffer+0 0
void across_calls(void) {
  long *where = &total;
  use(NULL);
  *where = 1; // expect[x86-64]: store total+0 8
  use(NULL);
  *where = 2; // expect[clang]: store total+0 8
} // expect?: store total+0 8
__attribute__((noinline)) int seen(long v) { // no access
  __asm__ volatile("" : : : "memory");
  return v > 3;
}
__attribute__((noinline)) void use(void *p) { // no access
  __asm__ volatile("" : : "r"(p) : "memory");
}
int main(void) { // no access
  return 0;
}
