#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define LOGCAP 10
#define WORK 600000
struct job { _Alignas(64) _Atomic unsigned key; };
struct ws_deque {
    atomic_long top;
    atomic_long bottom;
    _Alignas(64) atomic_int done;
    struct job job[1 << LOGCAP];
};

static void push(struct ws_deque *d, unsigned j)
{
    long b = atomic_load_explicit(&d->bottom, memory_order_relaxed);
    atomic_store_explicit(&d->job[b & ((1 << LOGCAP) - 1)].key, j, memory_order_relaxed);
    atomic_store_explicit(&d->bottom, b + 1, memory_order_release);
}

static long pop(struct ws_deque *d)
{
    long b = atomic_load_explicit(&d->bottom, memory_order_relaxed) - 1;
    atomic_store(&d->bottom, b);
    long t = atomic_load(&d->top);
    long r = t <= b ? (long)d->job[b & ((1 << LOGCAP) - 1)].key : -1;
    if (t >= b) {
        if (t == b && !atomic_compare_exchange_strong(&d->top, &t, t + 1))
            r = -1;
        atomic_store(&d->bottom, b + 1);
    }
    return r;
}

static long steal(struct ws_deque *d)
{
    long t = atomic_load(&d->top), b = atomic_load(&d->bottom);
    if (t >= b)
        return -1;
    long r = d->job[t & ((1 << LOGCAP) - 1)].key;
    return atomic_compare_exchange_strong(&d->top, &t, t + 1) ? r : -1;
}

static void *owner(void *arg)
{
    struct ws_deque *d = arg;
    long sum = 0, j;
    for (unsigned i = 0; i < WORK; i++) {
        push(d, i);
        if ((i & 3) == 3)
            while ((j = pop(d)) >= 0)
                sum += j;
    }
    d->done = 1;
    return (void *)sum;
}

static void *thief(void *arg)
{
    struct ws_deque *d = arg;
    long sum = 0, j;
    while (!d->done)
        if ((j = steal(d)) >= 0)
            sum += j;
    return (void *)sum;
}

int main(void)
{
    pthread_t o, t;
    void *a, *b;
    struct ws_deque *d = aligned_alloc(64, sizeof *d);
    d->top = d->bottom = 0;
    d->done = 0;
    pthread_create(&o, NULL, owner, d);
    pthread_create(&t, NULL, thief, d);
    pthread_join(o, &a);
    pthread_join(t, &b);
    printf("%d\n", (long)a + (long)b > 0);
    free(d);
    return 0;
}
