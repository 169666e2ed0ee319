#include <sched.h>

#include "server.h"

/* Keeps the coarse clock and looks at the workers' figures. */
void *ticker_main(void *arg)
{
    unsigned long *peak = arg;

    while (!atomic_load_explicit(&stopping, memory_order_acquire)) {
        unsigned long sum = 0;

        atomic_fetch_add_explicit(&clock_ms, 1, memory_order_relaxed);
        for (int i = 0; i < NWORKERS; i++)
            sum += workers[i].served;
        if (sum > *peak)
            *peak = sum;
        sched_yield();
    }
    return NULL;
}
