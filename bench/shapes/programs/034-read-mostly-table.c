#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

typedef unsigned (*handler)(unsigned);
static unsigned h_inc(unsigned v) { return v + 1; }
static unsigned h_rot(unsigned v) { return v << 3 | v >> 29; }
static unsigned h_mul(unsigned v) { return v * 2654435761u; }
static unsigned h_not(unsigned v) { return ~v; }
static handler const default_handlers[4] = { h_inc, h_rot, h_mul, h_not };

struct dispatch {
    handler const *volatile handlers;
    atomic_ulong dropped;
};
static struct dispatch disp = { default_handlers, 0 };

static void *event_loop(void *arg)
{
    unsigned v = (unsigned)(size_t)arg;
    for (int i = 0; i < 1500000; i++)
        v = disp.handlers[v & 3](v);
    return (void *)(size_t)v;
}

static void *rate_limiter(void *arg)
{
    unsigned tokens = 100, x = (unsigned)(size_t)arg;
    for (int i = 0; i < 1500000; i++) {
        x ^= x << 13; x ^= x >> 17; x ^= x << 5;
        if (x & 1) {
            if (tokens < 100) tokens++;
        } else if (tokens) {
            tokens--;
        }
        if (tokens < 60)
            atomic_fetch_add_explicit(&disp.dropped, 1, memory_order_relaxed);
    }
    return NULL;
}

struct start { void *(*fn)(void *); void *arg; };
static void *run(void *p)
{
    struct start *s = p;
    return s->fn(s->arg);
}

int main(void)
{
    struct start s[2] = { { event_loop, (void *)11 }, { rate_limiter, (void *)12 } };
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, run, &s[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    printf("%lu\n", disp.dropped);
    return 0;
}
