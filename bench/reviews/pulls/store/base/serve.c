#include "store.h"

#include <stdatomic.h>

static struct {
    _Alignas(64) atomic_ulong served;
    char padding[56];
} requests;

unsigned long requests_served(void)
{
    return atomic_load_explicit(&requests.served, memory_order_relaxed);
}

void serve(unsigned number)
{
    char value[256] = "value";
    uint64_t key = number;
    for (;;) {
        key = key * 6364136223846793005u + 1442695040888963407u;
        if (key >> 60 == 0 && !settings.read_only)
            table_put(key >> 20, value, sizeof value);
        else
            table_get(key >> 20, value, sizeof value);
        atomic_fetch_add_explicit(&requests.served, 1, memory_order_relaxed);
    }
}
