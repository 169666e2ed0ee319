#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum role { PARSER, WRITER };
struct job { enum role role; int rounds; };

static struct pipeline {
    atomic_uint parsed;
    atomic_uint written;
} stage __attribute__((aligned(32)));

static unsigned mixbits(unsigned v)
{
    v ^= v >> 15; v *= 0x2c1b3c6du; v ^= v >> 12;
    return v;
}

static void *entry(void *arg)
{
    struct job j = *(struct job *)arg;
    unsigned v = 1;
    switch (j.role) {
    case PARSER:
        for (int i = 0; i < j.rounds; i++) {
            v = mixbits(v + (unsigned)i);
            if (v & 3)
                atomic_fetch_add_explicit(&stage.parsed, 1, memory_order_relaxed);
        }
        break;
    case WRITER:
        for (int i = 0; i < j.rounds; i++) {
            v = mixbits(v ^ (unsigned)i) + 1;
            atomic_fetch_add_explicit(&stage.written, v & 1, memory_order_relaxed);
        }
        break;
    }
    return (void *)(size_t)v;
}

int main(void)
{
    struct job jobs[] = { { PARSER, 900000 }, { WRITER, 900000 } };
    pthread_t t[2];
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, entry, &jobs[i]);
    for (int i = 0; i < 2; i++)
        pthread_join(t[i], NULL);
    printf("%u %u\n", stage.parsed, stage.written);
    return 0;
}
