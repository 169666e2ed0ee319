#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

struct queue {
    pthread_mutex_t mu;
    int len;
    atomic_uint polls;
};

static void launch(pthread_t *t, void *(*fn)(void *), void *arg)
{
    if (pthread_create(t, NULL, fn, arg)) {
        fputs("no thread\n", stderr);
        exit(1);
    }
}

static void *feeder(void *arg)
{
    struct queue *q = arg;
    for (int i = 0; i < 300000; i++) {
        pthread_mutex_lock(&q->mu);
        q->len += i & 1 ? 1 : -1;
        pthread_mutex_unlock(&q->mu);
    }
    return NULL;
}

static void *poller(void *arg)
{
    struct queue *q = arg;
    unsigned x = 3;
    for (int i = 0; i < 800000; i++) {
        x ^= x << 13; x ^= x >> 17; x ^= x << 5;
        if (x & 7)
            atomic_fetch_add_explicit(&q->polls, 1, memory_order_relaxed);
    }
    return (void *)(long)x;
}

int main(void)
{
    pthread_t a, b;
    struct queue *q = aligned_alloc(64, 64);
    pthread_mutex_init(&q->mu, NULL);
    q->len = 0;
    atomic_init(&q->polls, 0);
    launch(&a, feeder, q);
    launch(&b, poller, q);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf("%d %u\n", q->len, q->polls);
    free(q);
    return 0;
}
