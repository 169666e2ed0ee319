#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#define MAXT 16
int odd_seen[MAXT];

int main(void)
{
    const int n = 1000000;
    int *samples = malloc(n * sizeof *samples);
    unsigned s = 42;
    for (int i = 0; i < n; i++) {
        s = s * 1103515245u + 12345u;
        samples[i] = (int)(s >> 16);
    }
    int total = 0;
#pragma omp parallel num_threads(4) reduction(+:total)
    {
        int mine = 0;
#pragma omp for schedule(static)
        for (int i = 0; i < n; i++)
            if (samples[i] & 1)
                mine++;
        odd_seen[omp_get_thread_num()] = mine;
        total += mine;
    }
    int check = 0;
    for (int t = 0; t < MAXT; t++)
        check += odd_seen[t];
    printf("%d %d\n", total, check == total);
    free(samples);
    return 0;
}
