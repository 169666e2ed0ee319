#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#define CAP 1024
#define ITEMS 400000
struct msg { _Alignas(64) unsigned seq, payload[15]; };
struct ring {
    atomic_uint head;
    atomic_uint tail;
    struct msg slot[CAP];
};

static void *producer(void *arg)
{
    struct ring *r = arg;
    unsigned h = 0;
    for (unsigned v = 1; v <= ITEMS; v++) {
        while (h - atomic_load_explicit(&r->tail, memory_order_acquire) == CAP)
            sched_yield();
        r->slot[h % CAP].seq = v * 2654435761u;
        atomic_store_explicit(&r->head, ++h, memory_order_release);
    }
    return NULL;
}

static void *consumer(void *arg)
{
    struct ring *r = arg;
    unsigned t = 0, sum = 0;
    while (t < ITEMS) {
        if (t == atomic_load_explicit(&r->head, memory_order_acquire)) {
            sched_yield();
            continue;
        }
        sum += r->slot[t % CAP].seq;
        atomic_store_explicit(&r->tail, ++t, memory_order_release);
    }
    return (void *)(long)sum;
}

int main(void)
{
    pthread_t p, c;
    void *res;
    struct ring *r = aligned_alloc(64, sizeof *r);
    atomic_init(&r->head, 0);
    atomic_init(&r->tail, 0);
    pthread_create(&p, NULL, producer, r);
    pthread_create(&c, NULL, consumer, r);
    pthread_join(p, NULL);
    pthread_join(c, &res);
    printf("%ld\n", (long)res);
    free(r);
    return 0;
}
