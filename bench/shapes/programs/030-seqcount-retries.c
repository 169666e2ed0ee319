#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

struct clock_page {
    atomic_uint seq;
    atomic_uint reads;
    _Alignas(64) _Atomic uint64_t nsec;
};
static struct clock_page clk;

static void *ticker(void *arg)
{
    uint64_t ns = (uintptr_t)arg;
    for (int i = 0; i < 500000; i++) {
        atomic_fetch_add_explicit(&clk.seq, 1, memory_order_acq_rel);
        ns += 1000 + (ns >> 20);
        atomic_store_explicit(&clk.nsec, ns, memory_order_relaxed);
        atomic_fetch_add_explicit(&clk.seq, 1, memory_order_release);
        for (volatile int k = 0; k < 8; k++) ;
    }
    return NULL;
}

static void *observer(void *arg)
{
    uint64_t last = 0, bad = 0;
    for (int i = 0; i < 500000; i++) {
        unsigned s0, s1;
        uint64_t now;
        int tries = 0;
        do {
            s0 = atomic_load_explicit(&clk.seq, memory_order_acquire);
            now = atomic_load_explicit(&clk.nsec, memory_order_relaxed);
            s1 = atomic_load_explicit(&clk.seq, memory_order_acquire);
        } while ((s0 != s1 || (s0 & 1)) && ++tries < 100);
        bad += now < last;
        last = now;
        atomic_fetch_add_explicit(&clk.reads, 1, memory_order_relaxed);
    }
    *(uint64_t *)arg = bad;
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    uint64_t bad;
    pthread_create(&a, NULL, ticker, (void *)17);
    pthread_create(&b, NULL, observer, &bad);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf("%u %u\n", clk.seq, clk.reads);
    return 0;
}
