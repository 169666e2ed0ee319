#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

struct server {
    atomic_int running;
    atomic_uint requests;
};
static struct server srv = { .running = 1 };

static void *prefetcher(void *arg)
{
    unsigned x = 1;
    unsigned long n = 0;
    while (atomic_load_explicit(&srv.running, memory_order_acquire)) {
        for (int i = 0; i < 16; i++)
            x = x * 1664525u + 1013904223u;
        n += x >> 31;
    }
    *(unsigned long *)arg = n;
    return NULL;
}

static void *frontend(void *arg)
{
    unsigned h = 5381;
    for (int i = 0; i < 1500000; i++) {
        for (const char *p = arg; *p; p++)
            h = h * 33 + (unsigned char)*p;
        atomic_fetch_add_explicit(&srv.requests, h & 1, memory_order_relaxed);
    }
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    unsigned long n;
    pthread_create(&a, NULL, prefetcher, &n);
    pthread_create(&b, NULL, frontend, "GET /status");
    pthread_join(b, NULL);
    atomic_store(&srv.running, 0);
    pthread_join(a, NULL);
    printf("%u %d\n", srv.requests, n > 0);
    return 0;
}
