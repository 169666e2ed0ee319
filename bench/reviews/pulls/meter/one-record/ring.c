/* One thread puts frames in, another takes them out. */
#include "meter.h"

#include <stdatomic.h>
#include <string.h>

#define SLOTS 256

static struct {
    atomic_uint written;
    atomic_uint taken;
    struct frame slots[SLOTS];
} ring;

int ring_put(const struct frame *frame)
{
    unsigned at = atomic_load_explicit(&ring.written, memory_order_relaxed);
    if (at - atomic_load_explicit(&ring.taken, memory_order_acquire) == SLOTS)
        return 0;
    memcpy(&ring.slots[at % SLOTS], frame, sizeof *frame);
    atomic_store_explicit(&ring.written, at + 1, memory_order_release);
    return 1;
}

int ring_take(struct frame *frame)
{
    unsigned at = atomic_load_explicit(&ring.taken, memory_order_relaxed);
    if (atomic_load_explicit(&ring.written, memory_order_acquire) == at)
        return 0;
    memcpy(frame, &ring.slots[at % SLOTS], sizeof *frame);
    atomic_store_explicit(&ring.taken, at + 1, memory_order_release);
    return 1;
}
