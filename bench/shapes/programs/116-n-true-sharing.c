#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static struct replica {
    _Alignas(64) atomic_ulong applied;
} repl;

static void *apply_loop(void *arg)
{
    unsigned h32 = *(unsigned *)arg;
    for (int i = 0; i < 600000; i++) {
        h32 = (h32 ^ (unsigned)i) * 16777619u;
        atomic_fetch_add_explicit(&repl.applied, h32 >> 31, memory_order_relaxed);
    }
    return NULL;
}

int main(void)
{
    pthread_t t[3];
    unsigned seeds[3] = { 2166136261u, 5, 9 };
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, apply_loop, &seeds[i]);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    printf("%lu\n", repl.applied);
    return 0;
}
