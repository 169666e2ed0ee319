// Read-side of a grace period: every reader reads a counter, next to which each call adds to another one.
// about: gp_ctr call_count
#include <stdatomic.h>
#include <stddef.h>

struct callback {
  struct callback *next;
  void (*function)(struct callback *);
};

struct reader {
  unsigned long ctr;
  unsigned depth;
};

#ifdef FIXED
_Alignas(64) unsigned long gp_ctr;
static _Alignas(64) atomic_int call_count = 0;
#else
unsigned long gp_ctr;
static atomic_int call_count = 0;
#endif
#ifdef EDIT
static int trace_callbacks = 0;
int trace(int on) { return trace_callbacks = on; }
#endif
static struct callback *_Atomic callbacks = NULL;
static __thread struct reader self;
extern void wait_for_readers(void);

void read_lock(void) {
  if (self.depth++ > 0)
    return;
  __atomic_store_n(&self.ctr, __atomic_load_n(&gp_ctr, __ATOMIC_RELAXED), __ATOMIC_RELAXED);
  atomic_thread_fence(memory_order_seq_cst);
}

void read_unlock(void) {
  if (--self.depth > 0)
    return;
  __atomic_store_n(&self.ctr, 0, __ATOMIC_RELEASE);
}

void call_later(struct callback *node, void (*function)(struct callback *)) {
  node->function = function;
  node->next = atomic_load(&callbacks);
  while (!atomic_compare_exchange_weak(&callbacks, &node->next, node))
    ;
  atomic_fetch_add(&call_count, 1);
}

void synchronize(void) {
  __atomic_store_n(&gp_ctr, gp_ctr + 2, __ATOMIC_SEQ_CST);
  wait_for_readers();
}
