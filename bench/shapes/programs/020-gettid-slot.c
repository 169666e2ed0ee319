#define _GNU_SOURCE
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define STRIPES 8
atomic_long alloc_bytes[STRIPES];

static void *counted_malloc(size_t n)
{
    void *p = malloc(n);
    if (p)
        atomic_fetch_add_explicit(&alloc_bytes[gettid() % STRIPES], (long)n, memory_order_relaxed);
    return p;
}

static void *churn(void *arg)
{
    unsigned x = (unsigned)(long)arg;
    for (int i = 0; i < 200000; i++) {
        x = x * 1103515245u + 12345u;
        char *p = counted_malloc(16 + (x >> 24));
        p[0] = (char)x;
        free(p);
    }
    return NULL;
}

static pthread_t spawn(void *(*fn)(void *), long arg)
{
    pthread_t t;
    if (pthread_create(&t, NULL, fn, (void *)arg))
        abort();
    return t;
}

int main(void)
{
    pthread_t t[4];
    for (int i = 0; i < 4; i++)
        t[i] = spawn(churn, i + 1);
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    long s = 0;
    for (int i = 0; i < STRIPES; i++)
        s += alloc_bytes[i];
    printf("%ld\n", s);
    return 0;
}
