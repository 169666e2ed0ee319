#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <time.h>

#define NW 4
struct status_page {
    uint32_t magic, nworkers;
    _Atomic uint64_t beat[NW];
};
static struct status_page *page;

static void *worker(void *arg)
{
    long id = (long)arg;
    struct timespec ts;
    uint64_t acc = id;
    for (int i = 0; i < 300000; i++) {
        for (int k = 0; k < 8; k++)
            acc = acc * 31 + k;
        clock_gettime(CLOCK_MONOTONIC, &ts);
        atomic_store_explicit(&page->beat[id], ts.tv_sec * 1000000000ull + ts.tv_nsec,
                              memory_order_relaxed);
    }
    return (void *)(acc & 1);
}

int main(void)
{
    pthread_t t[NW];
    page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED)
        return 1;
    page->magic = 0x53544154;
    page->nworkers = NW;
    for (long i = 0; i < NW; i++)
        pthread_create(&t[i], NULL, worker, (void *)i);
    for (int i = 0; i < NW; i++)
        pthread_join(t[i], NULL);
    for (int i = 0; i < NW; i++)
        printf("%d: %d\n", i, page->beat[i] != 0);
    munmap(page, 4096);
    return 0;
}
