/* What each kind of access looks like to the scanner.  One `expect:` a site:
     expect: KIND [atomic] NAME+OFFSET SIZE [stride=N] [loop=N]
   KIND load, store, rmw or address; each function must have exactly these, once or more often.  A line
   may be limited to architectures, compilers or levels: `expect[x86-64]:`, `expect[gcc -O0]:` (all words must fit);
   `expect?` is allowed and not required. */
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

struct item { long count; int state; char tag[4]; struct item *next; };
int number;
static int hidden;
long longs[40];
struct item items[10], one;
atomic_int counter;
atomic_long wide;
atomic_flag gate = ATOMIC_FLAG_INIT;
struct { char pad[64]; int value; } padded;
int untouched[100];
void sink(void *);
int taken(int);

int load(void) { // expect: load number+0 4
  return number;
}
void store(int v) { // expect: store hidden+0 4
  hidden = v;
}
int load_hidden(void) { // expect: load hidden+0 4
  return hidden;
}
void member(void) {
  one.state = 5;    // expect: store one+8 4
  one.tag[1] = 'x'; // expect: store one+13 1
  one.next = NULL;  // expect: store one+16 8
}
void far_member(void) { // expect: store padded+64 4
  padded.value = 3;
}
int far_load(void) { // expect: load padded+64 4
  return padded.value;
}
void atomic_add(void) {
  atomic_fetch_add(&counter, 1); // expect: rmw atomic counter+0 4
} // expect?[-O0]: address counter+0 0
// expect?[clang aarch64 -O0]: load counter+0 4
long atomic_swap(long v) {
  return atomic_exchange(&wide, v); // expect: rmw atomic wide+0 8
} // expect?[-O0]: address wide+0 0
// expect?[clang aarch64 -O0]: load wide+0 8
int atomic_read(void) {
  return atomic_load(&counter); // expect[x86-64]: load counter+0 4
}                               // expect[aarch64]: load atomic counter+0 4
// expect[riscv64]: load counter+0 4
void atomic_write(int v) {
  atomic_store(&counter, v); // expect[x86-64 -O0]: rmw atomic counter+0 4
  // Unoptimised code leaves what was there where results are returned.
  // expect[x86-64 -O1]: store atomic counter+0 4
  // expect[x86-64 -O2]: store atomic counter+0 4
  // expect[x86-64 -Os]: store atomic counter+0 4
}                            // expect[aarch64]: store atomic counter+0 4
// expect[gcc riscv64]: rmw atomic counter+0 4
// expect[clang riscv64]: store counter+0 4
void unlock(void) {
  atomic_flag_clear_explicit(&gate, memory_order_release); // expect[x86-64]: store gate+0 1
}                                                          // expect[aarch64]: store atomic gate+0 1
// expect[riscv64]: store gate+0 1
long indexed(size_t i) { // expect: load longs+0 8 stride=8
  return longs[i];
}
void indexed_member(size_t i) {
  items[i].state = 1; // expect: store items+8 4 stride=24
}
void indexed_from(size_t i) {
  longs[i + 3] = 1; // expect: store longs+24 8 stride=8
}
void passed(void) {
  sink(&one); // expect: address one+0 0
}
void passed_member(void) {
  sink(&items[2].next); // expect: address items+64 0
}
void *returned(void) { // expect: address longs+0 0
  return longs;
}
void kept(void) {
  one.next = &items[1]; // expect: store one+16 8
}                       // expect: address items+24 0
int (*function(void))(int) {
  return taken; // expect: address taken 0
}
void nothing(int *p) { // no access
  *p = 3;
}
int taken(int v) { // no access
  return v * 3;
}
__attribute__((noinline)) void sink(void *p) { // no access
  __asm__ volatile("" : : "r"(p) : "memory");
}
int main(void) { // no access
  return 0;
}
