#include "internal.h"

#include <stdio.h>

struct metric mk_metrics[MKM_COUNT] = {
    [MKM_ALLOC] = { "alloc", "blocks", 0 },
    [MKM_FREE] = { "free", "blocks", 0 },
    [MKM_REMOTE] = { "remote_free", "blocks", 0 },
    [MKM_LOOKUP] = { "lookup", "keys", 0 },
    [MKM_EPOCH] = { "epoch", "steps", 0 },
};

int mk_metrics_on;

void mk_count(enum mk_metric m, uint64_t by)
{
    if (mk_metrics_on)
        atomic_fetch_add_explicit(&mk_metrics[m].value, by, memory_order_relaxed);
}

void mk_metric_print(void)
{
    for (int i = 0; i < MKM_COUNT; i++)
        printf("  %-12s %s (%s)\n", mk_metrics[i].name, mk_metrics[i].value ? "counted" : "none", mk_metrics[i].unit);
}
