#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

#define NT 4
enum { DIGIT, ALPHA, SPACE, OTHER, KINDS };
volatile uint32_t hist[NT][KINDS];

static int classify(unsigned char c)
{
    if (c >= '0' && c <= '9') return DIGIT;
    if ((c | 32) >= 'a' && (c | 32) <= 'z') return ALPHA;
    return c == ' ' || c == '\t' ? SPACE : OTHER;
}

static void *count(void *arg)
{
    uintptr_t id = (uintptr_t)arg;
    uint32_t x = 88172645u + (uint32_t)id;
    for (int i = 0; i < 700000; i++) {
        x ^= x << 13; x ^= x >> 17; x ^= x << 5;
        hist[id][classify((unsigned char)(x >> 25))]++;
    }
    return NULL;
}

int main(void)
{
    pthread_t t[NT];
    uint32_t sum[KINDS] = { 0 };
    for (uintptr_t i = 0; i < NT; i++)
        pthread_create(&t[i], NULL, count, (void *)i);
    for (int i = 0; i < NT; i++)
        pthread_join(t[i], NULL);
    for (int i = 0; i < NT; i++)
        for (int k = 0; k < KINDS; k++)
            sum[k] += hist[i][k];
    printf("%u %u %u %u\n", sum[DIGIT], sum[ALPHA], sum[SPACE], sum[OTHER]);
    return 0;
}
