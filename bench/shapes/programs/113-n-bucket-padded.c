#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

#define NB 64
struct bucket {
    _Alignas(64) pthread_spinlock_t lock;
    uint32_t count;
};
static struct bucket table[NB];

static uint32_t hash32(uint32_t k)
{
    k ^= k >> 16; k *= 0x7feb352du;
    k ^= k >> 15; k *= 0x846ca68bu;
    return k ^ (k >> 16);
}

static void table_insert(uint32_t key)
{
    struct bucket *b = &table[hash32(key) % NB];
    pthread_spin_lock(&b->lock);
    b->count++;
    pthread_spin_unlock(&b->lock);
}

static void *loader(void *arg)
{
    uint32_t base = (uint32_t)(uintptr_t)arg << 24;
    for (uint32_t i = 0; i < 400000; i++)
        table_insert(base + i);
    return NULL;
}

int main(void)
{
    pthread_t t[3];
    uint32_t n = 0;
    for (int i = 0; i < NB; i++)
        pthread_spin_init(&table[i].lock, PTHREAD_PROCESS_PRIVATE);
    for (uintptr_t i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, loader, (void *)i);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    for (int i = 0; i < NB; i++)
        n += table[i].count;
    printf("%u\n", n);
    return 0;
}
