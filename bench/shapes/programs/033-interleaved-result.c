#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

#define NT 4
#define NPIX 65536
uint16_t escape_iters[NPIX];

static unsigned julia(float x, float y)
{
    unsigned n = 0;
    while (x * x + y * y < 4.0f && n < 60) {
        float t = x * x - y * y - 0.4f;
        y = 2 * x * y + 0.6f;
        x = t;
        n++;
    }
    return n;
}

static void *render(void *arg)
{
    unsigned id = (unsigned)(uintptr_t)arg;
    for (unsigned p = id; p < NPIX; p += NT)
        escape_iters[p] = (uint16_t)julia((float)(p % 256) / 64 - 2, (float)(p / 256) / 64 - 2);
    return NULL;
}

int main(void)
{
    pthread_t t[NT];
    unsigned long sum = 0;
    for (uintptr_t i = 0; i < NT; i++)
        pthread_create(&t[i], NULL, render, (void *)i);
    for (int i = 0; i < NT; i++)
        pthread_join(t[i], NULL);
    for (int p = 0; p < NPIX; p++)
        sum += escape_iters[p];
    printf("%lu\n", sum);
    return 0;
}
