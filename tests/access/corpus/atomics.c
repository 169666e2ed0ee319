/* C11 atomics of every width and order, spin locks, reference counts, sequence locks. */
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

atomic_int counter;
_Atomic(uint8_t) small;
_Atomic(uint16_t) medium;
_Atomic(uint64_t) wide;
atomic_flag flag = ATOMIC_FLAG_INIT;
static _Atomic(void *) owner;
struct object { atomic_int references; int payload; atomic_ulong seen; } object;
static struct { atomic_uint sequence; int data[6]; } seqlock;
static volatile int lock_word;
_Atomic long per_slot[16];
int plain;

void bump(void) { atomic_fetch_add(&counter, 1); }
int bump_get(void) { return atomic_fetch_add_explicit(&counter, 2, memory_order_acq_rel); }
void widths(int v) {
  atomic_fetch_add(&small, 1);
  atomic_fetch_or(&medium, (uint16_t)v);
  atomic_fetch_and(&wide, (uint64_t)v);
  atomic_fetch_xor_explicit(&wide, 3, memory_order_relaxed);
  atomic_fetch_sub_explicit(&small, 1, memory_order_release);
}
int loads(void) {
  return atomic_load(&counter) + (int)atomic_load_explicit(&wide, memory_order_acquire) +
         atomic_load_explicit(&small, memory_order_relaxed);
}
void stores(int v) {
  atomic_store(&counter, v);
  atomic_store_explicit(&medium, (uint16_t)v, memory_order_release);
  atomic_store_explicit(&wide, 1, memory_order_relaxed);
}
void *take(void *me) { return atomic_exchange(&owner, me); }
bool try_take(void *me) {
  void *none = 0;
  return atomic_compare_exchange_strong(&owner, &none, me);
}
void spin(void) {
  while (atomic_flag_test_and_set_explicit(&flag, memory_order_acquire))
    ;
  plain++;
  atomic_flag_clear_explicit(&flag, memory_order_release);
}
void old_lock(void) {
  while (__sync_lock_test_and_set(&lock_word, 1))
    while (lock_word)
      ;
  plain += 2;
  __sync_lock_release(&lock_word);
}
void get(void) { atomic_fetch_add_explicit(&object.references, 1, memory_order_relaxed); }
bool put(void) {
  if (atomic_fetch_sub(&object.references, 1) != 1)
    return false;
  object.payload = 0;
  atomic_fetch_add(&object.seen, 1);
  return true;
}
int read_sequence(int i) {
  unsigned before;
  int value;
  do {
    before = atomic_load(&seqlock.sequence);
    value = seqlock.data[i];
  } while ((before & 1) || before != atomic_load(&seqlock.sequence));
  return value;
}
void write_sequence(int i, int v) {
  atomic_fetch_add(&seqlock.sequence, 1);
  seqlock.data[i] = v;
  atomic_fetch_add(&seqlock.sequence, 1);
}
void count_in(int slot) { atomic_fetch_add(&per_slot[slot], 1); }
void maximum(long v) {
  long seen = atomic_load(&per_slot[3]);
  while (seen < v && !atomic_compare_exchange_weak(&per_slot[3], &seen, v))
    ;
}
void add_to(atomic_int *where, int v) { atomic_fetch_add(where, v); }
void barrier(void) { atomic_thread_fence(memory_order_seq_cst); }
int main(int argc, char **argv) {
  bump();
  widths(argc);
  stores(argc);
  spin();
  old_lock();
  get();
  write_sequence(argc, argc);
  count_in(argc);
  maximum(argc);
  add_to(&counter, 4);
  barrier();
  return bump_get() + loads() + (take(argv) == 0) + try_take(argv) + put() + read_sequence(argc);
}
