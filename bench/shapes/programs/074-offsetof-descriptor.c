#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>

struct ethtool_stats {
    atomic_ulong rx_drop;
    atomic_ulong tx_drop;
};
struct ethtool_stats nicstats __attribute__((aligned(64)));

struct stat_desc {
    char name[12];
    unsigned threshold;
    size_t offset;
};
static const struct stat_desc descs[] = {
    { "rx_dropped", 90, offsetof(struct ethtool_stats, rx_drop) },
    { "tx_dropped", 50, offsetof(struct ethtool_stats, tx_drop) },
};

static void stat_inc(void *base, const struct stat_desc *d)
{
    atomic_fetch_add_explicit((atomic_ulong *)((char *)base + d->offset), 1, memory_order_relaxed);
}

static void *queue_thread(void *arg)
{
    const struct stat_desc *d = arg;
    unsigned fill = 10;
    for (int i = 0; i < 900000; i++) {
        fill = (fill * 21 + 53) % 101;
        if (fill < d->threshold)
            stat_inc(&nicstats, d);
    }
    return NULL;
}

int main(void)
{
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, queue_thread, (void *)&descs[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    printf("%s %lu, %s %lu\n", descs[0].name, nicstats.rx_drop, descs[1].name, nicstats.tx_drop);
    return 0;
}
