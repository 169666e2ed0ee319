#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <stdint.h>

#define NJOBS 8
struct task { void (*fn)(void *); void *arg; };

static struct {
    _Alignas(64) pthread_mutex_t mu;
    struct task q[NJOBS];
    int head, tail;
} pool = { .mu = PTHREAD_MUTEX_INITIALIZER };

static void submit(void (*fn)(void *), void *arg)
{
    pthread_mutex_lock(&pool.mu);
    pool.q[pool.tail++] = (struct task){ fn, arg };
    pthread_mutex_unlock(&pool.mu);
}

static void *worker(void *unused)
{
    (void)unused;
    for (;;) {
        pthread_mutex_lock(&pool.mu);
        if (pool.head == pool.tail) {
            pthread_mutex_unlock(&pool.mu);
            return NULL;
        }
        struct task t = pool.q[pool.head++];
        pthread_mutex_unlock(&pool.mu);
        t.fn(t.arg);
    }
}

struct hash_job {
    uint32_t seed;
    volatile uint32_t sum;
    uint64_t len;
};

static void hash_block(void *arg)
{
    struct hash_job *j = arg;
    uint32_t h = j->seed;
    for (uint64_t i = 0, n = j->len; i < n; i++) {
        h = (h ^ (uint8_t)i) * 16777619u;
        j->sum += h >> 8;
    }
}

int main(void)
{
    pthread_t w;
    struct hash_job *jobs = calloc(NJOBS, sizeof *jobs);
    for (int i = 0; i < NJOBS; i++) {
        jobs[i].seed = 2166136261u + i;
        jobs[i].len = 400000;
        submit(hash_block, &jobs[i]);
    }
    pthread_create(&w, NULL, worker, NULL);
    pthread_join(w, NULL);
    uint32_t s = 0;
    for (int i = 0; i < NJOBS; i++)
        s += jobs[i].sum;
    printf("%u\n", s);
    free(jobs);
    return 0;
}
