#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static struct plan {
    _Alignas(64) volatile unsigned lexed;
    volatile unsigned linked;
} plan;
static struct { _Alignas(64) pthread_barrier_t b; } phase;

static void *lexer(void *arg)
{
    const char *src = arg;
    for (int i = 0; i < 50000; i++)
        for (const char *p = src; *p; p++)
            if (*p == ';')
                plan.lexed++;
    pthread_barrier_wait(&phase.b);
    return NULL;
}

static void *linker(void *arg)
{
    unsigned x = *(unsigned *)arg;
    pthread_barrier_wait(&phase.b);
    for (int i = 0; i < 500000; i++) {
        x = x * 69069 + 1;
        if (x >> 30)
            plan.linked++;
    }
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    unsigned seed = 5;
    pthread_barrier_init(&phase.b, NULL, 2);
    pthread_create(&a, NULL, lexer, "int a; int b; return a + b;");
    pthread_create(&b, NULL, linker, &seed);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf("%u %u\n", plan.lexed, plan.linked);
    return 0;
}
