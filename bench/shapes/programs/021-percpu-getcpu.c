#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

#define NCPU 64
static struct vm_stat {
    atomic_uint nr_event[NCPU];
} vmstat;

static inline void count_event(void)
{
    int cpu = sched_getcpu();
    atomic_fetch_add_explicit(&vmstat.nr_event[cpu & (NCPU - 1)], 1, memory_order_relaxed);
}

static void *fault_thread(void *arg)
{
    unsigned char page[256] = { 0 };
    unsigned pos = (unsigned)(long)arg * 13;
    for (int i = 0; i < 3000000; i++) {
        pos = (pos * 5 + 3) % sizeof page;
        if (page[pos]++ % 3 == 0)
            count_event();
    }
    return (void *)(long)page[7];
}

int main(void)
{
    pthread_t t[4];
    unsigned s = 0;
    for (long i = 0; i < 4; i++)
        pthread_create(&t[i], NULL, fault_thread, (void *)i);
    for (int i = 0; i < 4; i++)
        pthread_join(t[i], NULL);
    for (int i = 0; i < NCPU; i++)
        s += vmstat.nr_event[i];
    printf("%u\n", s);
    return 0;
}
