#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

#define NT 4
#define STRIDE 4
volatile long polled[NT * STRIDE] __attribute__((aligned(64)));

static int device_ready(uint32_t *state)
{
    uint32_t s = *state;
    s ^= s << 13; s ^= s >> 17; s ^= s << 5;
    *state = s;
    return (s & 0x30) != 0;
}

static void *poll_loop(void *arg)
{
    uintptr_t id = (uintptr_t)arg;
    uint32_t state = 0x1234u + (uint32_t)id;
    for (int i = 0; i < 800000; i++)
        if (device_ready(&state))
            polled[id * STRIDE]++;
    return NULL;
}

int main(void)
{
    pthread_t t[NT];
    long sum = 0;
    for (uintptr_t i = 0; i < NT; i++)
        pthread_create(&t[i], NULL, poll_loop, (void *)i);
    for (int i = 0; i < NT; i++) {
        pthread_join(t[i], NULL);
        sum += polled[i * STRIDE];
    }
    printf("%ld\n", sum);
    return 0;
}
