#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

struct tstat { atomic_uint calls; int errs; };
static pthread_key_t key;
static struct tstat *tstats;
static struct { _Alignas(64) atomic_int used; } reg;

static struct tstat *tstat_get(void)
{
    struct tstat *t = pthread_getspecific(key);
    if (!t) {
        t = &tstats[atomic_fetch_add(&reg.used, 1)];
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
    tstats = calloc(16, sizeof *tstats);
    pthread_key_create(&key, NULL);
    for (size_t i = 0; i < 5; i++)
        pthread_create(&t[i], NULL, client, (void *)i);
    for (int i = 0; i < 5; i++)
        pthread_join(t[i], NULL);
    for (int i = 0; i < 16; i++)
        s += tstats[i].calls;
    printf("%u\n", s);
    free(tstats);
    return 0;
}
