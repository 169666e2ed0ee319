#include "queue.h"

struct state {
  CACHE_ALIGN long own;
};
static struct state state;

void put(struct queue *q) {
  q->head++;
  state.own++;
}
