#include "mq.h"
#include <stdio.h>
#include <stdalign.h>

struct sub_stat {
    uint64_t messages;
    uint64_t bytes;
};
static struct sub_stat sub_stats[MAX_SUBS];

/* one line each: several consumers work on one topic, but mostly not at once */
struct topic_stat {
    alignas(64) _Atomic uint64_t messages;
    _Atomic uint64_t bytes;
};
static struct topic_stat topic_stats[MAX_TOPICS];

struct alone {
    alignas(64) _Atomic uint64_t acks;
};
static struct alone total;

static alignas(64) struct {
    uint64_t errors;
    uint64_t ticks;
} rare;

void stats_delivered(int sub, uint32_t len)
{
    sub_stats[sub].messages++;
    sub_stats[sub].bytes += len;
}

void stats_topic(uint32_t topic, uint32_t len)
{
    atomic_fetch_add_explicit(&topic_stats[topic].messages, 1, memory_order_relaxed);
    atomic_fetch_add_explicit(&topic_stats[topic].bytes, len, memory_order_relaxed);
}

void stats_ack(void) { atomic_fetch_add(&total.acks, 1); }
void stats_error(void) { rare.errors++; }
void stats_tick(void) { rare.ticks++; }

void stats_print(int nsubs)
{
    uint64_t m = 0, b = 0;
    for (int i = 0; i < nsubs; i++) {
        m += sub_stats[i].messages;
        b += sub_stats[i].bytes;
    }
    printf("delivered %lu messages, %lu bytes, acks %lu, errors %lu, ticks %lu\n",
           (unsigned long)m, (unsigned long)b, (unsigned long)total.acks,
           (unsigned long)rare.errors, (unsigned long)rare.ticks);
    for (int i = 0; i < MAX_TOPICS; i++)
        printf("  topic %d: %lu\n", i, (unsigned long)topic_stats[i].messages);
}

uint64_t body_digest(const unsigned char *p, uint32_t n)
{
    uint64_t h = 1469598103934665603ull;
    for (uint32_t i = 0; i < n; i++)
        h = (h ^ p[i]) * 1099511628211ull;
    return h;
}
