#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

struct mailbox {
    pthread_cond_t cv;       /* 48 bytes */
    atomic_uint spins;
    _Alignas(64) pthread_mutex_t mu;
    _Alignas(64) int full;
};
static struct mailbox mbox = { .cv = PTHREAD_COND_INITIALIZER, .mu = PTHREAD_MUTEX_INITIALIZER };

static void hand_over(struct mailbox *m, int want, int set)
{
    pthread_mutex_lock(&m->mu);
    while (m->full != want)
        pthread_cond_wait(&m->cv, &m->mu);
    m->full = set;
    pthread_cond_signal(&m->cv);
    pthread_mutex_unlock(&m->mu);
}

static void *sender(void *arg)
{
    for (int i = 0; i < 20000; i++)
        hand_over(arg, 0, 1);
    return NULL;
}

static void *receiver(void *arg)
{
    for (int i = 0; i < 20000; i++)
        hand_over(arg, 1, 0);
    return NULL;
}

static void *sampler(void *arg)
{
    struct mailbox *m = arg;
    unsigned x = 1;
    for (int i = 0; i < 5000000; i++) {
        x = x * 1103515245u + 12345u;
        if (x >> 30)
            atomic_fetch_add_explicit(&m->spins, 1, memory_order_relaxed);
    }
    return NULL;
}

int main(void)
{
    pthread_t s, r, p;
    pthread_create(&s, NULL, sender, &mbox);
    pthread_create(&r, NULL, receiver, &mbox);
    pthread_create(&p, NULL, sampler, &mbox);
    pthread_join(s, NULL);
    pthread_join(r, NULL);
    pthread_join(p, NULL);
    printf("%d %u\n", mbox.full, mbox.spins);
    return 0;
}
