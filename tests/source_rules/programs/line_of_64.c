// The line of the target; 128 for pairs of lines; 32 for a vector.
// no-finding
#include <stdatomic.h>
#define CACHE_LINE_SIZE 64
#define CACHE_LINE_PAIR 128
#define VECTOR_BYTES 32

struct stats {
  _Alignas(CACHE_LINE_SIZE) atomic_long received;
  _Alignas(CACHE_LINE_PAIR) atomic_long sent;
};
struct vectors {
  _Alignas(VECTOR_BYTES) float x[8];
  _Alignas(32) float y[8];
};
static struct stats stats;
static struct vectors vectors;

void receive(int i) {
  atomic_fetch_add(&stats.received, 1);
  atomic_fetch_add(&stats.sent, 1);
  vectors.x[i] += vectors.y[i];
}
