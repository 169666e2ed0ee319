#include "queue.h"

void put(struct queue *q);
void take(struct queue *q) { q->tail++; }
int main(void) {
  static struct queue q;
  put(&q);
  take(&q);
  return 0;
}
