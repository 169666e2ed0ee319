#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static struct replica {
    atomic_ulong applied;
    atomic_ulong acked;
    long term;
} repl __attribute__((aligned(64)));
static struct { _Alignas(64) atomic_int v; } helper_done;

static void *ack_loop(void *arg)
{
    unsigned lag = *(unsigned *)arg;
    for (unsigned i = 0; i < 900000; i++) {
        lag = lag * 29 + i;
        if ((lag & 7) != 7)
            atomic_fetch_add_explicit(&repl.acked, 1, memory_order_relaxed);
    }
    atomic_store(&helper_done.v, 1);
    return NULL;
}

static void *apply_loop(void *arg)
{
    static unsigned lag = 5;
    pthread_t h;
    pthread_attr_t at;
    unsigned h32 = 0;
    pthread_attr_init(&at);
    pthread_attr_setdetachstate(&at, PTHREAD_CREATE_DETACHED);
    pthread_create(&h, &at, ack_loop, &lag);
    for (int i = 0; i < 900000; i++) {
        h32 = (h32 ^ (unsigned)i) * 16777619u;
        atomic_fetch_add_explicit(&repl.applied, h32 >> 31, memory_order_relaxed);
    }
    while (!atomic_load(&helper_done.v))
        usleep(1000);
    return arg;
}

int main(void)
{
    pthread_t t;
    pthread_create(&t, NULL, apply_loop, NULL);
    pthread_join(t, NULL);
    printf("%lu %lu %ld\n", repl.applied, repl.acked, repl.term);
    return 0;
}
