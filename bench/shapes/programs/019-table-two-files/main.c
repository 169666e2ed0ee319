#include "stats.h"
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

static void *worker(void *arg)
{
    int id = (int)(intptr_t)arg;
    uint32_t x = 1 + id;
    for (int i = 0; i < 800000; i++) {
        x ^= x << 13; x ^= x >> 17; x ^= x << 5;
        if (x & 1)
            stat_done(id);
    }
    return NULL;
}

int main(void)
{
    pthread_t t[4];
    stats_init(4);
    for (intptr_t i = 0; i < 4; i++)
        pthread_create(&t[i], NULL, worker, (void *)i);
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    printf("%lu\n", stats_total());
    return 0;
}
