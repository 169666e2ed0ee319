// What is exchanged, and what nobody asks of it. x86-64 stores in order so.
#include <stdatomic.h>

atomic_int stored, cleared, in_loop; // only stored
atomic_int returned, kept, handed, tested, ended, compared, added;
int seen;

void call(int n);

void stores(void) {
  atomic_store(&stored, 1);
  call(1);
  seen++; // the call is none that leaves the function
}
void clears(int n) {
  atomic_store(&cleared, 0);
  if (n)
    call(2);
  else
    call(3);
  seen++;
}
void stores_in_loop(int n) {
  for (int i = 0; i < n; i++) {
    atomic_store(&in_loop, i);
    call(i);
  }
}
int returns(void) { return atomic_exchange(&returned, 1); }
void keeps(void) {
  seen = atomic_exchange(&kept, 1);
  call(1);
}
void hands(void) { call(atomic_exchange(&handed, 1)); }
void tests(int n) {
  if (atomic_exchange(&tested, n))
    call(1);
  call(2);
}
// What a function without a value leaves where others return theirs is not told apart.
void ends(void) { atomic_store(&ended, 1); }
void compares(int n) {
  if (atomic_exchange(&compared, n) < n)
    call(1);
  call(2);
}
void adds(void) {
  atomic_fetch_add(&added, 1);
  call(1);
}
// Weak: of what it leaves in registers its callers know nothing.
__attribute__((weak)) void call(int n) { seen += n; }
int main(void) { return 0; }
