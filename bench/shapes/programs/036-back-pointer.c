#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

struct pool {
    _Alignas(64) atomic_ulong submitted;
    atomic_ulong completed;
};
struct pool_worker {
    struct pool *pool;
    pthread_t tid;
    unsigned seed;
};

static unsigned work_item(unsigned x)
{
    for (int i = 0; i < 5; i++)
        x = (x ^ 61) * 9 + (x >> 4);
    return x;
}

static void *pool_main(void *arg)
{
    struct pool_worker *w = arg;
    unsigned x = w->seed;
    for (int i = 0; i < 500000; i++) {
        x = work_item(x);
        atomic_fetch_add_explicit(&w->pool->completed, x & 1, memory_order_relaxed);
    }
    return NULL;
}

int main(void)
{
    struct pool *p = aligned_alloc(64, sizeof *p);
    atomic_init(&p->submitted, 0);
    atomic_init(&p->completed, 0);
    struct pool_worker *w = calloc(2, sizeof *w);
    for (int i = 0; i < 2; i++) {
        w[i].pool = p;
        w[i].seed = 100 + i;
        pthread_create(&w[i].tid, NULL, pool_main, &w[i]);
    }
    char req[24];
    for (int i = 0; i < 200000; i++) {
        snprintf(req, sizeof req, "job-%d", i);
        if (req[4] != '9')
            atomic_fetch_add_explicit(&p->submitted, 1, memory_order_relaxed);
    }
    for (int i = 0; i < 2; i++)
        pthread_join(w[i].tid, NULL);
    printf("%lu %lu\n", p->submitted, p->completed);
    free(w);
    free(p);
    return 0;
}
