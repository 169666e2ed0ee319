#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#define MAXT 16
volatile int odd_seen[MAXT];

int main(void)
{
    const int n = 1000000;
    int *samples = malloc(n * sizeof *samples);
    unsigned s = 42;
    for (int i = 0; i < n; i++) {
        s = s * 1103515245u + 12345u;
        samples[i] = (int)(s >> 16);
    }
#pragma omp parallel for num_threads(4) schedule(static)
    for (int i = 0; i < n; i++)
        if (samples[i] & 1)
            odd_seen[omp_get_thread_num()]++;
    int total = 0;
    for (int t = 0; t < MAXT; t++)
        total += odd_seen[t];
    printf("%d\n", total);
    free(samples);
    return 0;
}
