#include <pthread.h>
#include <stdio.h>
#include <stdint.h>

#define NT 6
volatile uint8_t in_quiescent[NT];

static void *mutator(void *arg)
{
    unsigned id = (unsigned)(uintptr_t)arg;
    uint32_t heap[64], x = id + 1;
    for (int i = 0; i < 64; i++)
        heap[i] = i * x;
    for (int i = 0; i < 500000; i++) {
        in_quiescent[id] = 0;
        x = x * 69069 + 5;
        heap[x >> 26] += x;
        in_quiescent[id] = 1;
    }
    return (void *)(uintptr_t)heap[3];
}

int main(void)
{
    pthread_t t[NT];
    uintptr_t sum = 0;
    for (uintptr_t i = 0; i < NT; i++)
        pthread_create(&t[i], NULL, mutator, (void *)i);
    for (int i = 0; i < NT; i++) {
        void *r;
        pthread_join(t[i], &r);
        sum += (uintptr_t)r + in_quiescent[i];
    }
    printf("%lu\n", (unsigned long)sum);
    return 0;
}
