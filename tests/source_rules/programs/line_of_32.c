// A constant from another machine.
// expect: alignment-below-line medium stats.received stats.sent
#include <stdatomic.h>
#define CACHE_LINE_SIZE 32

struct stats {
  _Alignas(CACHE_LINE_SIZE) atomic_long received;
  _Alignas(CACHE_LINE_SIZE) atomic_long sent;
};
static struct stats stats;

void receive(void) { atomic_fetch_add(&stats.received, 1); }
void send(void) { atomic_fetch_add(&stats.sent, 1); }
