// An open file of a server: its references change for each request beside the operations that each request calls.
// about: file refs ops
#include <stdalign.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>

struct file;
struct file_ops {
  long (*read)(struct file *file, void *into, size_t size, long long at);
  void (*release)(struct file *file);
};

struct file {
  const struct file_ops *ops;
  void *private_data;
  unsigned flags;
#ifdef FIXED
  alignas(64) atomic_uint refs;
#else
  atomic_uint refs;
#endif
};

#define MAX_FILES 1024
static struct file *_Atomic table[MAX_FILES];
#ifdef EDIT
static unsigned long opened;
#endif

struct file *file_open(const struct file_ops *ops, void *private_data, unsigned flags) {
  struct file *file = aligned_alloc(alignof(struct file), sizeof *file);
  if (!file)
    return NULL;
  file->ops = ops;
  file->private_data = private_data;
  file->flags = flags;
  atomic_init(&file->refs, 1);
  for (unsigned fd = 0; fd < MAX_FILES; fd++) {
    struct file *none = NULL;
    if (atomic_compare_exchange_strong(&table[fd], &none, file))
      break;
  }
  return file;
}

static struct file *file_get(unsigned fd) {
  struct file *file = fd < MAX_FILES ? atomic_load_explicit(&table[fd], memory_order_acquire) : NULL;
  if (file)
    atomic_fetch_add_explicit(&file->refs, 1, memory_order_relaxed);
  return file;
}

static void file_put(struct file *file) {
  if (atomic_fetch_sub_explicit(&file->refs, 1, memory_order_acq_rel) == 1) {
    file->ops->release(file);
    free(file);
  }
}

long serve_read(unsigned fd, void *into, size_t size, long long at) {
  struct file *file = file_get(fd);
  if (!file)
    return -1;
  long got = file->flags & 1 ? file->ops->read(file, into, size, at) : -1;
  file_put(file);
  return got;
}
