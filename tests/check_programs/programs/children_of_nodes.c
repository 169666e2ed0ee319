// Two children of a node, chosen by bits of a key: which of many nodes a thread is in says nothing of the other threads.
// expect: packed-thread-slots medium node.child
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct node {
  unsigned long key;
  _Atomic(struct node *) child[2];
};

static struct node *made(unsigned long key) {
  struct node *node = calloc(1, sizeof *node);
  node->key = key;
  return node;
}

static void hang(struct node *above, unsigned side, struct node *below) {
  atomic_exchange(&above->child[side], below);
}

static void *grow(void *argument) {
  unsigned long key = (unsigned long)argument;
  struct node *roots[16];
  for (int i = 0; i < 16; i++)
    roots[i] = made(key + i);
  for (;;) {
    key = key * 25214903917 + 11;
    struct node *root = roots[key >> 20 & 15];
    hang(root, key >> 7 & 1, roots[key >> 9 & 15]);
  }
}

int main(void) {
  pthread_t threads[4];
  for (long i = 0; i < 4; i++)
    pthread_create(&threads[i], 0, grow, (void *)i);
  for (int i = 0; i < 4; i++)
    pthread_join(threads[i], 0);
}
