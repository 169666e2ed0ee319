#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

struct wire_slot { volatile uint32_t seqno, crc; };
struct sender { unsigned id, rounds; };
static unsigned char *shm_base;

static struct wire_slot *slot_of(unsigned id)
{
    return (struct wire_slot *)(shm_base + 16 + id * sizeof(struct wire_slot));
}

static void *sender_main(void *arg)
{
    struct sender s = *(struct sender *)arg;
    struct wire_slot *w = slot_of(s.id);
    uint32_t crc = s.id;
    for (unsigned i = 0; i < s.rounds; i++) {
        for (int k = 0; k < 4; k++)
            crc = (crc >> 1) ^ (0x82f63b78u & -(crc & 1)) ^ i;
        w->seqno++;
    }
    return (void *)(uintptr_t)crc;
}

static void spawn(pthread_t *t, struct sender *s)
{
    if (pthread_create(t, NULL, sender_main, s))
        abort();
}

int main(void)
{
    pthread_t t[3];
    struct sender s[3] = { { 0, 600000 }, { 1, 700000 }, { 2, 800000 } };
    shm_base = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shm_base == MAP_FAILED)
        return 1;
    for (int i = 0; i < 3; i++)
        spawn(&t[i], &s[i]);
    for (int i = 0; i < 3; i++) {
        void *crc;
        pthread_join(t[i], &crc);
        slot_of((unsigned)i)->crc = (uint32_t)(uintptr_t)crc;
        printf("%u ", slot_of((unsigned)i)->seqno);
    }
    printf("\n");
    return 0;
}
