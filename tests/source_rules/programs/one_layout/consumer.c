#include "queue.h"

struct state {
  long own;
};
static struct state state;

void put(struct queue *q);
void take(struct queue *q) {
  q->tail++;
  state.own++;
}
int main(void) {
  static struct queue q;
  put(&q);
  take(&q);
  return 0;
}
