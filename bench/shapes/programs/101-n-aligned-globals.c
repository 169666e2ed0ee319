#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define ROUNDS 600000

struct line_counter { _Alignas(64) atomic_ulong v; };
struct line_counter rx_frames;
struct line_counter tx_frames;

static uint32_t crc_step(uint32_t crc, const unsigned char *p, size_t n)
{
    while (n--)
        crc = (crc << 5) ^ (crc >> 27) ^ *p++;
    return crc;
}

static void *rx_main(void *arg)
{
    unsigned char frame[24];
    uint32_t crc = (uint32_t)(uintptr_t)arg;
    for (int i = 0; i < ROUNDS; i++) {
        memset(frame, i & 0xff, sizeof frame);
        crc = crc_step(crc, frame, sizeof frame);
        if (crc != 0)
            atomic_fetch_add_explicit(&rx_frames.v, 1, memory_order_relaxed);
    }
    return (void *)(uintptr_t)crc;
}

static void *tx_main(void *arg)
{
    unsigned char frame[16];
    uint32_t crc = (uint32_t)(uintptr_t)arg;
    for (int i = 0; i < ROUNDS; i++) {
        memcpy(frame, &i, sizeof i);
        memset(frame + 4, 0x55, 12);
        crc = crc_step(crc, frame, sizeof frame);
        atomic_fetch_add_explicit(&tx_frames.v, 1, memory_order_relaxed);
    }
    return (void *)(uintptr_t)crc;
}

int main(void)
{
    pthread_t rx, tx;
    void *a, *b;
    pthread_create(&rx, NULL, rx_main, (void *)1);
    pthread_create(&tx, NULL, tx_main, (void *)7);
    pthread_join(rx, &a);
    pthread_join(tx, &b);
    printf("%lu %lu %d\n", rx_frames.v, tx_frames.v, a == b);
    return 0;
}
