#include "gauge.h"
#include <stdint.h>
#include <stdio.h>
#include <threads.h>

static int meter(void *arg)
{
    unsigned id = (unsigned)(uintptr_t)arg;
    struct gauge *g = gauge_claim(id);
    unsigned level = id * 7 + 1;
    for (int i = 0; i < 900000; i++) {
        level = level * 134775813u + 1;
        g->value = level >> 16;
    }
    return (int)(level & 1);
}

int main(void)
{
    thrd_t t[4];
    int r, n = 0;
    for (uintptr_t i = 0; i < 4; i++)
        if (thrd_create(&t[i], meter, (void *)i) != thrd_success)
            return 1;
    for (int i = 0; i < 4; i++) {
        thrd_join(t[i], &r);
        n += r;
    }
    printf("%d %u\n", n, gauge_sum());
    return 0;
}
