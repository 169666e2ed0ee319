/*
 * A ring of frames.  One thread puts frames in, another takes them out; neither waits for the other.
 * "written" and "taken" only grow and are reduced modulo the number of slots where they are used.
 */
#include "meter.h"

#include <stdatomic.h>
#include <string.h>

#define SLOTS 256

static struct frame slots[SLOTS];
static _Alignas(LINE) atomic_uint written;
static _Alignas(LINE) atomic_uint taken;

int ring_put(const struct frame *frame)
{
    unsigned at = atomic_load_explicit(&written, memory_order_relaxed);
    if (at - atomic_load_explicit(&taken, memory_order_acquire) == SLOTS)
        return 0;
    memcpy(&slots[at % SLOTS], frame, sizeof *frame);
    atomic_store_explicit(&written, at + 1, memory_order_release);
    return 1;
}

int ring_take(struct frame *frame)
{
    unsigned at = atomic_load_explicit(&taken, memory_order_relaxed);
    if (atomic_load_explicit(&written, memory_order_acquire) == at)
        return 0;
    memcpy(frame, &slots[at % SLOTS], sizeof *frame);
    atomic_store_explicit(&taken, at + 1, memory_order_release);
    return 1;
}
