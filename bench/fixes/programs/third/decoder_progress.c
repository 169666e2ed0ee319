// Frame threads of a decoder: each has a context in one array, and says there how far it has come.
// about: frame_context
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct packet {
  const unsigned char *data;
  int size;
};

struct frame_context {
  struct packet packet;
  void *priv;
  atomic_int progress;
  int index;
  unsigned long rows;
  pthread_t thread;
#ifdef EDIT
  int field;
#endif
#ifdef FIXED
} __attribute__((aligned(64)));
#else
};
#endif

struct decoder {
  struct frame_context *contexts;
  int count;
  int rows;
};

extern int decode_row(struct frame_context *context, int row);
static struct decoder decoder;

static void *frame_worker(void *arg) {
  struct frame_context *context = arg;
  for (;;) {
    for (int row = 0; row < decoder.rows; row++) {
      if (decode_row(context, row))
        return NULL;
      context->rows++;
      atomic_store_explicit(&context->progress, row, memory_order_release);
    }
  }
}

int decoder_open(int count, int rows) {
#ifdef FIXED
  decoder.contexts = aligned_alloc(64, count * sizeof(struct frame_context));
#else
  decoder.contexts = calloc(count, sizeof(struct frame_context));
#endif
  if (!decoder.contexts)
    return -1;
  decoder.count = count;
  decoder.rows = rows;
  for (int i = 0; i < count; i++) {
    struct frame_context *context = &decoder.contexts[i];
    context->index = i;
    if (pthread_create(&context->thread, NULL, frame_worker, context))
      return -1;
  }
  return 0;
}
