#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

struct tstat { _Alignas(64) atomic_uint calls; int errs; struct tstat *next; };
static pthread_key_t key;
static struct { _Alignas(64) _Atomic(struct tstat *) list; } all;

static struct tstat *tstat_get(void)
{
    struct tstat *t = pthread_getspecific(key);
    if (!t) {
        t = aligned_alloc(64, sizeof *t);
        atomic_init(&t->calls, 0);
        t->errs = 0;
        t->next = atomic_load(&all.list);
        while (!atomic_compare_exchange_weak(&all.list, &t->next, t))
            ;
        pthread_setspecific(key, t);
    }
    return t;
}

static int api_call(int v)
{
    atomic_fetch_add_explicit(&tstat_get()->calls, 1, memory_order_relaxed);
    return (v * 7) ^ (v >> 3);
}

static void *client(void *arg)
{
    int v = (int)(size_t)arg;
    for (int i = 0; i < 500000; i++)
        v = api_call(v + i);
    return (void *)(size_t)(v & 0xff);
}

int main(void)
{
    pthread_t t[5];
    unsigned s = 0;
    pthread_key_create(&key, NULL);
    for (size_t i = 0; i < 5; i++)
        pthread_create(&t[i], NULL, client, (void *)i);
    for (int i = 0; i < 5; i++)
        pthread_join(t[i], NULL);
    for (struct tstat *p = all.list; p; p = p->next)
        s += p->calls;
    printf("%u\n", s);
    return 0;
}
