#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define NS 4
struct scan_job {
    _Alignas(64) volatile uint32_t *bits;
    uint32_t seed;
};

static void mark(volatile uint32_t *w, unsigned bit)
{
    *w |= 1u << (bit & 31);
}

static void *scan_region(void *arg)
{
    struct scan_job *j = arg;
    uint32_t addr = j->seed;
    volatile uint32_t *bits = j->bits;
    for (int i = 0; i < 700000; i++) {
        addr = addr * 1664525u + 1013904223u;
        if ((addr >> 12) % 5 == 0)
            mark(bits, addr >> 27);
    }
    return NULL;
}

int main(void)
{
    pthread_t t[NS];
    static struct scan_job jobs[NS];
    uint32_t *visited = calloc(NS, sizeof *visited), all = 0;
    for (unsigned i = 0; i < NS; i++) {
        jobs[i].bits = visited + i;
        jobs[i].seed = 77 * i;
        pthread_create(&t[i], NULL, scan_region, &jobs[i]);
    }
    for (int i = 0; i < NS; i++) {
        pthread_join(t[i], NULL);
        all |= visited[i];
    }
    printf("%08x\n", all);
    free(visited);
    return 0;
}
