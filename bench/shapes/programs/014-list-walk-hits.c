#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct route {
    struct route *next;
    uint32_t prefix;
    atomic_uint hits;
};
static struct route *routes;

static void *lookup_thread(void *arg)
{
    uint32_t key = 12345;
    unsigned long found = 0;
    for (int i = 0; i < 200000; i++) {
        key = key * 1664525u + 1013904223u;
        for (struct route *r = routes; r; r = r->next)
            if (r->prefix == key >> 28) {
                found++;
                break;
            }
    }
    *(unsigned long *)arg = found;
    return NULL;
}

static void *accounting_thread(void *arg)
{
    struct route *r = arg;
    for (int i = 0; i < 1000000; i++) {
        atomic_fetch_add_explicit(&r->hits, (unsigned)i & 15, memory_order_relaxed);
        r = (i & 1023) ? r : arg;
    }
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    unsigned long found;
    for (uint32_t i = 0; i < 8; i++) {
        struct route *r = malloc(sizeof *r);
        r->prefix = i;
        atomic_init(&r->hits, 0);
        r->next = routes;
        routes = r;
    }
    pthread_create(&a, NULL, lookup_thread, &found);
    pthread_create(&b, NULL, accounting_thread, routes);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf("%lu %u\n", found, routes->hits);
    return 0;
}
