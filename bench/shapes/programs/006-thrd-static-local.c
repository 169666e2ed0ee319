#include <stdatomic.h>
#include <stdio.h>
#include <threads.h>

struct counters { atomic_uint encoded, decoded; };

static struct counters *get_counters(void)
{
    static struct counters c;
    return &c;
}

static int encoder(void *arg)
{
    unsigned char out[8];
    unsigned n = *(unsigned *)arg, acc = 0;
    for (unsigned v = 0; v < n; v++) {
        unsigned x = v, k = 0;
        do {
            out[k++] = (x & 0x7f) | 0x80;
            x >>= 7;
        } while (x);
        acc += out[k - 1];
        atomic_fetch_add_explicit(&get_counters()->encoded, k, memory_order_relaxed);
    }
    return (int)(acc & 0xff);
}

static int decoder(void *arg)
{
    static const unsigned char in[] = { 0x81, 0x02, 0x03, 0xff, 0x7f };
    unsigned n = *(unsigned *)arg, v = 0;
    for (unsigned i = 0; i < n; i++) {
        v = (v << 7) | (in[i % sizeof in] & 0x7f);
        if (!(in[i % sizeof in] & 0x80))
            atomic_fetch_add_explicit(&get_counters()->decoded, 1, memory_order_relaxed);
    }
    return (int)(v & 0xff);
}

int main(void)
{
    thrd_t e, d;
    unsigned n = 700000;
    int re, rd;
    if (thrd_create(&e, encoder, &n) != thrd_success || thrd_create(&d, decoder, &n) != thrd_success)
        return 1;
    thrd_join(e, &re);
    thrd_join(d, &rd);
    printf("%u %u %d\n", get_counters()->encoded, get_counters()->decoded, re + rd);
    return 0;
}
