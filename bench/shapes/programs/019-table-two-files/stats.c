#include "stats.h"
#include <stdatomic.h>
#include <stdlib.h>

struct wstat {
    atomic_ulong done;
};
static struct wstat *table[MAX_WORKERS];
static int count;

void stats_init(int n)
{
    count = n;
    for (int i = 0; i < n; i++)
        table[i] = calloc(1, sizeof *table[i]);
}

void stat_done(int id)
{
    atomic_fetch_add_explicit(&table[id]->done, 1, memory_order_relaxed);
}

unsigned long stats_total(void)
{
    unsigned long s = 0;
    for (int i = 0; i < count; i++)
        s += table[i]->done;
    return s;
}
