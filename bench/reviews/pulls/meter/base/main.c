#include "meter.h"

#include <pthread.h>
#include <stdatomic.h>

static atomic_int stopped;

/* What the receiver counts, and 48 bytes further what the sender counts. */
struct totals {
    unsigned long frames_in, bytes_in;
    unsigned long reserved[4];
    unsigned long frames_out, bytes_out;
};
struct totals totals = {1, 0, {0, 0, 0, 0}, 1, 0};

static void *receiver(void *unused)
{
    struct frame frame;
    while (!atomic_load_explicit(&stopped, memory_order_relaxed)) {
        if (!link_receive(&frame))
            break;
        while (!ring_put(&frame))
            ;
        totals.frames_in++;
        totals.bytes_in += frame.length;
    }
    return unused;
}

static void *sender(void *unused)
{
    struct frame frame;
    while (!atomic_load_explicit(&stopped, memory_order_relaxed)) {
        if (!ring_take(&frame))
            continue;
        link_send(&frame);
        totals.frames_out++;
        totals.bytes_out += frame.length;
    }
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t in, out;
    link_open(argc > 1 ? argv[1] : "/dev/null");
    pthread_create(&in, 0, receiver, 0);
    pthread_create(&out, 0, sender, 0);
    pthread_join(in, 0);
    atomic_store(&stopped, 1);
    pthread_join(out, 0);
    log_line("in", (long)totals.frames_in);
    log_line("out", (long)totals.frames_out);
    return 0;
}
