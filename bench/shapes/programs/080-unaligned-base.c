#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct port_ctl {
    volatile uint64_t rx_seq;
    char name[48];
    volatile uint64_t tx_seq;
};
struct port_table {
    _Alignas(64) unsigned count;
    unsigned version;
    uint64_t created;
    struct port_ctl port[];
};

static void *port_main(void *arg)
{
    struct port_ctl *p = arg;
    uint32_t h = (uint32_t)strlen(p->name);
    for (int i = 0; i < 700000; i++) {
        h = (h ^ (uint32_t)i) * 16777619u;
        if (h & 1)
            p->rx_seq++;
        else
            p->tx_seq++;
    }
    return NULL;
}

static pthread_t spawn(void *(*fn)(void *), void *arg)
{
    pthread_t t;
    if (pthread_create(&t, NULL, fn, arg))
        abort();
    return t;
}

int main(void)
{
    pthread_t t[3];
    uint64_t sum = 0;
    struct port_table *pt = aligned_alloc(64, 320);
    memset(pt, 0, 320);
    pt->count = 3;
    for (unsigned i = 0; i < pt->count; i++)
        snprintf(pt->port[i].name, sizeof pt->port[i].name, "port%u", i);
    for (unsigned i = 0; i < 3; i++)
        t[i] = spawn(port_main, &pt->port[i]);
    for (unsigned i = 0; i < 3; i++) {
        pthread_join(t[i], NULL);
        sum += pt->port[i].rx_seq + pt->port[i].tx_seq;
    }
    printf("%lu\n", sum);
    free(pt);
    return 0;
}
