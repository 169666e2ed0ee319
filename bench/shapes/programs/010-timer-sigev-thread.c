#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define NENT 512
struct lru_cache {
    atomic_ulong lookups;
    atomic_ulong expired;
};
static struct lru_cache cache __attribute__((aligned(64)));

static void sweep(union sigval sv)
{
    struct lru_cache *c = sv.sival_ptr;
    unsigned short age[NENT];
    for (int i = 0; i < NENT; i++)
        age[i] = (unsigned short)(i * 40503u);
    for (int pass = 0; pass < 50; pass++)
        for (int i = 0; i < NENT; i++) {
            age[i] += 77;
            if (age[i] > 30000)
                atomic_fetch_add_explicit(&c->expired, 1, memory_order_relaxed);
        }
}

int main(void)
{
    timer_t tm;
    struct sigevent ev = { 0 };
    struct itimerspec it = { { 0, 3000000 }, { 0, 1000000 } };
    ev.sigev_notify = SIGEV_THREAD;
    ev.sigev_notify_function = sweep;
    ev.sigev_value.sival_ptr = &cache;
    if (timer_create(CLOCK_MONOTONIC, &ev, &tm) || timer_settime(tm, 0, &it, NULL))
        return 1;
    unsigned long key = 1, sum = 0;
    for (int i = 0; i < 8000000; i++) {
        key = key * 6364136223846793005ul + 1442695040888963407ul;
        sum ^= key >> 33;
        atomic_fetch_add_explicit(&cache.lookups, 1, memory_order_relaxed);
    }
    timer_delete(tm);
    printf("%lu %lu %lx\n", cache.lookups, cache.expired, sum);
    return 0;
}
