#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

struct io_stats { atomic_uint ops; unsigned limit; };
struct conn {
    struct io_stats in;
    struct io_stats out;
    int fd;
};

static void *pump(void *arg)
{
    struct io_stats *st = arg;
    unsigned limit = st->limit, crc = ~0u;
    for (unsigned i = 0; i < limit; i++) {
        crc ^= i;
        for (int k = 0; k < 4; k++)
            crc = (crc >> 1) ^ (0xedb88320u & -(crc & 1));
        atomic_fetch_add_explicit(&st->ops, 1, memory_order_relaxed);
    }
    return (void *)(size_t)crc;
}

static void spawn(pthread_t *t, struct io_stats *st)
{
    if (pthread_create(t, NULL, pump, st))
        abort();
}

int main(void)
{
    pthread_t rd, wr;
    void *a, *b;
    struct conn *c = calloc(1, sizeof *c);
    c->in.limit = 700000;
    c->out.limit = 600000;
    spawn(&rd, &c->in);
    spawn(&wr, &c->out);
    pthread_join(rd, &a);
    pthread_join(wr, &b);
    printf("%u %u %zx\n", c->in.ops, c->out.ops, (size_t)a ^ (size_t)b);
    free(c);
    return 0;
}
