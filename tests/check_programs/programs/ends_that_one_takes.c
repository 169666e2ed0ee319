// Of a library's queue any thread exchanges one end, and the one that takes out moves the other as plain data.
// expect: independent-writers medium queue.head queue.tail
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

struct node {
  _Atomic(struct node *) next;
};
struct queue {
  _Atomic(struct node *) head;
  struct node *tail;
  struct node stub;
};
void queue_push(struct queue *queue, struct node *node);
struct node *queue_pop(struct queue *queue);

struct queue *queue_new(void) {
  struct queue *queue = calloc(1, sizeof *queue);
  if (queue == NULL) return NULL;
  atomic_init(&queue->head, &queue->stub);
  queue->tail = &queue->stub;
  return queue;
}

void queue_push(struct queue *queue, struct node *node) {
  atomic_store_explicit(&node->next, NULL, memory_order_relaxed);
  struct node *before = atomic_exchange_explicit(&queue->head, node, memory_order_acq_rel);
  atomic_store_explicit(&before->next, node, memory_order_release);
}

struct node *queue_pop(struct queue *queue) {
  struct node *tail = queue->tail;
  struct node *next = atomic_load_explicit(&tail->next, memory_order_acquire);
  if (tail == &queue->stub) {
    if (next == NULL) return NULL;
    queue->tail = next;
    tail = next;
    next = atomic_load_explicit(&tail->next, memory_order_acquire);
  }
  if (next != NULL) {
    queue->tail = next;
    return tail;
  }
  if (tail != atomic_load_explicit(&queue->head, memory_order_acquire)) return NULL;
  queue_push(queue, &queue->stub);
  next = atomic_load_explicit(&tail->next, memory_order_acquire);
  if (next == NULL) return NULL;
  queue->tail = next;
  return tail;
}
