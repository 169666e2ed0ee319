/* Loops that only try an exchange again, and near misses that do something each time around. */
#include <stdatomic.h>

char spinning, yielding, waited, taking;
long swapped, checked, guarded, each, popped, kept, added, replaced, counted;
long turns[8];
__attribute__((noinline)) void pause_a_while(void) { __asm__ volatile("" ::: "memory"); }
__attribute__((noinline)) void use(long value) { __asm__ volatile("" : : "r"(value) : "memory"); }

void spin(void) {
  while (__atomic_exchange_n(&spinning, 1, __ATOMIC_ACQUIRE))
    __asm__ volatile("" ::: "memory");
  guarded++;
  __atomic_store_n(&spinning, 0, __ATOMIC_RELEASE);
}

void yield(void) {
  while (__atomic_exchange_n(&yielding, 1, __ATOMIC_ACQUIRE))
    pause_a_while();
  __atomic_store_n(&yielding, 0, __ATOMIC_RELEASE);
}

void swap(long by) {
  long old = __atomic_load_n(&swapped, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(&swapped, &old, old * by, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
    ;
}

int check(void) {
  long old = __atomic_load_n(&checked, __ATOMIC_RELAXED);
  do {
    if (old < 0)
      return 0;
  } while (!__atomic_compare_exchange_n(&checked, &old, old * 3, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  return 1;
}

/* A spin lock that is taken in every round of a loop. */
void rounds(int n) {
  for (int i = 0; i < n; i++) {
    while (__atomic_exchange_n(&taking, 1, __ATOMIC_ACQUIRE))
      __asm__ volatile("" ::: "memory");
    each++;
    __atomic_store_n(&taking, 0, __ATOMIC_RELEASE);
  }
}

/* Near misses: a round for each exchange that succeeded, and loops that an exchange stands in. */
void pop(void) {
  long one;
  while ((one = __atomic_exchange_n(&popped, 0, __ATOMIC_ACQUIRE)))
    use(one);
}

void keep(int n) {
  for (int i = 0; i < n; i++)
    use(__atomic_exchange_n(&kept, i, __ATOMIC_RELAXED));
}

void add(int n) {
  for (int i = 0; i < n; i++)
    __atomic_fetch_add(&added, turns[i & 7], __ATOMIC_RELAXED);
}

void replace(int n) {
  for (int i = n; i; i--)
    __atomic_exchange_n(&replaced, i, __ATOMIC_RELAXED);
}

long count(int n) {
  long sum = 0;
  for (int i = n; i; i--)
    sum += __atomic_fetch_add(&counted, i, __ATOMIC_RELAXED);
  return sum;
}

int main(int n, char **v) {
  (void)v;
  spin();
  yield();
  swap(n);
  rounds(n);
  pop();
  keep(n);
  add(n);
  replace(n);
  return check() + (int)count(n);
}
