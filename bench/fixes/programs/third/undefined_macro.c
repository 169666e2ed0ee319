// A macro of alignment that is only defined where a header is included, which it is not here.
// about: __cacheline_aligned
#include <pthread.h>
#include <stdatomic.h>

#ifdef FIXED
#define __cacheline_aligned __attribute__((aligned(64)))
#endif

struct dispatcher {
  atomic_ulong posted;
  char name[16];
} __cacheline_aligned;

static struct dispatcher dispatcher;
#ifdef EDIT
static int verbose;
int is_verbose(void) { return verbose; }
#endif

void dispatcher_post(void) { atomic_fetch_add(&dispatcher.posted, 1); }
unsigned long dispatcher_posted(void) { return atomic_load(&dispatcher.posted); }
