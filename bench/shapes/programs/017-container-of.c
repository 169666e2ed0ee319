#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#define container_of(p, type, m) ((type *)((char *)(p) - offsetof(type, m)))

struct work {
    void (*func)(struct work *);
};
struct worker {
    unsigned long ticks;
    unsigned seed, rounds;
    struct work work;
    int cpu;
};

static void tick_work(struct work *w)
{
    struct worker *wk = container_of(w, struct worker, work);
    unsigned n = wk->rounds, x = wk->seed;
    for (unsigned i = 0; i < n; i++) {
        x = x * 69069u + 1;
        if (x & 0x10000)
            __atomic_fetch_add(&wk->ticks, 1, __ATOMIC_RELAXED);
    }
}

static void *worker_entry(void *arg)
{
    struct work *w = arg;
    w->func(w);
    return NULL;
}

int main(void)
{
    enum { N = 4 };
    pthread_t t[N];
    struct worker *ws = calloc(N, sizeof *ws);
    for (int i = 0; i < N; i++) {
        ws[i].seed = i + 1;
        ws[i].rounds = 800000;
        ws[i].work.func = tick_work;
        pthread_create(&t[i], NULL, worker_entry, &ws[i].work);
    }
    unsigned long sum = 0;
    for (int i = 0; i < N; i++) {
        pthread_join(t[i], NULL);
        sum += ws[i].ticks;
    }
    printf("%lu\n", sum);
    free(ws);
    return 0;
}
