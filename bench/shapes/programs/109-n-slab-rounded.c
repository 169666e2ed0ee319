#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define CACHELINE 64
struct slab { char *base; size_t used, size; };
static struct slab slab;

static void *slab_alloc(struct slab *s, size_t n)
{
    n = (n + CACHELINE - 1) & ~(size_t)(CACHELINE - 1);
    if (s->used + n > s->size)
        return NULL;
    void *p = s->base + s->used;
    s->used += n;
    return p;
}

struct session {
    uint32_t peer;
    uint16_t port;
    uint16_t flags;
    volatile uint64_t bytes_in;
    uint64_t limit;
};

static void *session_main(void *arg)
{
    struct session *se = arg;
    uint32_t x = se->peer;
    uint64_t limit = se->limit;
    for (uint64_t n = 0; n < limit; n++) {
        x ^= x << 13; x ^= x >> 17; x ^= x << 5;
        se->bytes_in += x % 1400;
    }
    return NULL;
}

static pthread_t spawn(void *(*fn)(void *), void *arg)
{
    pthread_t t;
    if (pthread_create(&t, NULL, fn, arg))
        abort();
    return t;
}

int main(void)
{
    pthread_t t[4];
    struct session *se[4];
    slab.size = 4096;
    slab.base = aligned_alloc(4096, slab.size);
    for (int i = 0; i < 4; i++) {
        se[i] = slab_alloc(&slab, sizeof *se[i]);
        *se[i] = (struct session){ .peer = 0x0a000001u + i, .port = 80, .limit = 700000 };
    }
    for (int i = 0; i < 4; i++)
        t[i] = spawn(session_main, se[i]);
    uint64_t sum = 0;
    for (int i = 0; i < 4; i++) {
        pthread_join(t[i], NULL);
        sum += se[i]->bytes_in;
    }
    printf("%lu\n", sum);
    free(slab.base);
    return 0;
}
