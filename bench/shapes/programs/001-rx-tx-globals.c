#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define ROUNDS 600000

atomic_ulong rx_frames;
atomic_ulong tx_frames;

static uint32_t crc_step(uint32_t crc, const unsigned char *p, size_t n)
{
    while (n--)
        crc = (crc << 5) ^ (crc >> 27) ^ *p++;
    return crc;
}

static void *rx_main(void *arg)
{
    unsigned char frame[24];
    uint32_t crc = 1;
    for (int i = 0; i < ROUNDS; i++) {
        memset(frame, i & 0xff, sizeof frame);
        crc = crc_step(crc, frame, sizeof frame);
        if (crc != 0)
            atomic_fetch_add_explicit(&rx_frames, 1, memory_order_relaxed);
    }
    *(uint32_t *)arg = crc;
    return NULL;
}

static void *tx_main(void *arg)
{
    unsigned char frame[16];
    uint32_t crc = 7;
    for (int i = 0; i < ROUNDS; i++) {
        memcpy(frame, &i, sizeof i);
        memset(frame + 4, 0x55, 12);
        crc = crc_step(crc, frame, sizeof frame);
        atomic_fetch_add_explicit(&tx_frames, 1, memory_order_relaxed);
    }
    *(uint32_t *)arg = crc;
    return NULL;
}

int main(void)
{
    pthread_t rx, tx;
    uint32_t c1, c2;
    pthread_create(&rx, NULL, rx_main, &c1);
    pthread_create(&tx, NULL, tx_main, &c2);
    pthread_join(rx, NULL);
    pthread_join(tx, NULL);
    printf("%lu %lu %08x\n", rx_frames, tx_frames, c1 ^ c2);
    return 0;
}
