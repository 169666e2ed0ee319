#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <time.h>

#define NW 4
struct status_page {
    uint32_t magic, pid;
    _Atomic uint64_t beat;
    char name[4096 - 16];
};
static struct status_page *pages;

static void *worker(void *arg)
{
    long id = (long)arg;
    struct timespec ts;
    uint64_t acc = id;
    for (int i = 0; i < 300000; i++) {
        for (int k = 0; k < 8; k++)
            acc = acc * 31 + k;
        clock_gettime(CLOCK_MONOTONIC, &ts);
        atomic_store_explicit(&pages[id].beat, ts.tv_sec * 1000000000ull + ts.tv_nsec,
                              memory_order_relaxed);
    }
    return (void *)(acc & 1);
}

int main(void)
{
    pthread_t t[NW];
    pages = mmap(NULL, NW * sizeof *pages, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED)
        return 1;
    for (long i = 0; i < NW; i++) {
        pages[i].magic = 0x53544154;
        pthread_create(&t[i], NULL, worker, (void *)i);
    }
    for (int i = 0; i < NW; i++)
        pthread_join(t[i], NULL);
    for (int i = 0; i < NW; i++)
        printf("%d: %d\n", i, pages[i].beat != 0);
    munmap(pages, NW * sizeof *pages);
    return 0;
}
