#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static struct config {
    char name[4];
    atomic_uint audits;
    pthread_rwlock_t lk;
} cfg __attribute__((aligned(64))) = { "eth", 0, PTHREAD_RWLOCK_INITIALIZER };
static struct { _Alignas(64) int mtu[4]; } limits = { { 1500, 9000, 576, 1280 } };

static void *forwarder(void *arg)
{
    unsigned long ok = 0;
    for (int i = 0; i < 250000; i++) {
        pthread_rwlock_rdlock(&cfg.lk);
        ok += (i % 2000) <= limits.mtu[i & 3];
        pthread_rwlock_unlock(&cfg.lk);
    }
    *(unsigned long *)arg = ok;
    return NULL;
}

int main(void)
{
    pthread_t t[2];
    unsigned long ok[2];
    unsigned char rec[32];
    unsigned sum = 0;
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, forwarder, &ok[i]);
    for (int i = 0; i < 800000; i++) {
        memset(rec, i, sizeof rec);
        for (unsigned k = 0; k < sizeof rec; k += 4)
            sum += rec[k] ^ k;
        atomic_fetch_add_explicit(&cfg.audits, 1, memory_order_relaxed);
    }
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    printf("%lu %u %u\n", ok[0] + ok[1], sum, cfg.audits);
    return 0;
}
