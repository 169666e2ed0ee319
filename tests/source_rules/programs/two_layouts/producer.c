#include "config.h"
#include "queue.h"

void put(struct queue *q) { q->head++; }
