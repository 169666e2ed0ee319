#include <stdatomic.h>
#include <stdio.h>

struct mixer {
    _Atomic float left_peak;
    _Atomic float right_peak;
    int rate;
} mix = { 0, 0, 48000 };

static float osc(unsigned *ph, unsigned step)
{
    *ph += step;
    return (float)(int)(*ph >> 8) / 16777216.0f;
}

int main(void)
{
#pragma omp parallel sections num_threads(2)
    {
#pragma omp section
        {
            unsigned ph = 0;
            for (int i = 0; i < 1000000; i++) {
                float v = osc(&ph, 77777777u);
                float p = atomic_load_explicit(&mix.left_peak, memory_order_relaxed) * 0.999f;
                atomic_store_explicit(&mix.left_peak, v > p ? v : p, memory_order_relaxed);
            }
        }
#pragma omp section
        {
            unsigned ph = 1u << 30;
            for (int i = 0; i < 1000000; i++) {
                float v = osc(&ph, 123456789u);
                float p = atomic_load_explicit(&mix.right_peak, memory_order_relaxed) * 0.998f;
                atomic_store_explicit(&mix.right_peak, v > p ? v : p, memory_order_relaxed);
            }
        }
    }
    double l = atomic_load(&mix.left_peak), r = atomic_load(&mix.right_peak);
    printf("%d Hz %f %f\n", mix.rate, l, r);
    return 0;
}
