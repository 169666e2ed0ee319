#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define NSHARD 16
struct shard { atomic_uint ops; unsigned pad_for_flags; };
static struct shard *shards;

static unsigned my_shard(void)
{
    uint64_t h = (uint64_t)pthread_self();
    h *= 0x9e3779b97f4a7c15ull;
    return h >> 60;
}

static void *client(void *arg)
{
    unsigned v = *(unsigned *)arg;
    for (int i = 0; i < 700000; i++) {
        v = (v >> 1) ^ (-(v & 1u) & 0xd0000001u);
        if (v & 6)
            atomic_fetch_add_explicit(&shards[my_shard()].ops, 1, memory_order_relaxed);
    }
    return NULL;
}

int main(void)
{
    pthread_t t[6];
    unsigned seed[6] = { 1, 22, 333, 4444, 55555, 666666 };
    shards = calloc(NSHARD, sizeof *shards);
    for (int i = 0; i < 6; i++)
        pthread_create(&t[i], NULL, client, &seed[i]);
    for (int i = 0; i < 6; i++)
        pthread_join(t[i], NULL);
    unsigned s = 0;
    for (int i = 0; i < NSHARD; i++)
        s += shards[i].ops;
    printf("%u\n", s);
    free(shards);
    return 0;
}
