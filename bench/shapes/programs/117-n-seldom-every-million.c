#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

struct server {
    atomic_uint requests;
    atomic_uint reloads;
};
static struct server srv __attribute__((aligned(64)));

static unsigned parse(const char *p, unsigned h)
{
    for (; *p; p++)
        h = h * 33 + (unsigned char)*p;
    return h;
}

static void *frontend(void *arg)
{
    unsigned h = 5381;
    for (int i = 1; i <= 600000; i++) {
        h = parse(arg, h);
        if (i % 100000 == 0)
            atomic_fetch_add_explicit(&srv.requests, 100000, memory_order_relaxed);
    }
    return (void *)(size_t)h;
}

static void *config_watch(void *arg)
{
    unsigned h = 1;
    for (int i = 1; i <= 600000; i++) {
        h = parse(arg, h);
        if (i % 100000 == 0)
            atomic_fetch_add_explicit(&srv.reloads, 1, memory_order_relaxed);
    }
    return (void *)(size_t)h;
}

int main(void)
{
    pthread_t a, b;
    void *ra, *rb;
    pthread_create(&a, NULL, frontend, "GET /status HTTP/1.0");
    pthread_create(&b, NULL, config_watch, "listen=0.0.0.0:80 w=4");
    pthread_join(a, &ra);
    pthread_join(b, &rb);
    printf("%u %u %d\n", srv.requests, srv.reloads, ra == rb);
    return 0;
}
