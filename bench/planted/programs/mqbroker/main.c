#include "mq.h"
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct broker_conf conf = {
    .max_payload = BODY_MAX, .ack_every = 8, .high_water = 4096, .trace = 0,
};

_Atomic uint64_t next_msg_id = 1;
int              broker_accepting = 1;
static char     *instance_name = "mq0";
static long      rounds = 60000;

struct broker broker __attribute__((aligned(64)));
static atomic_int publishers_left __attribute__((aligned(64)));
static atomic_int dispatch_done;

static struct publisher *publishers;

static void fill(struct msg *m, uint32_t *rng)
{
    uint32_t x = *rng;
    m->len = 32 + (x >> 8) % (BODY_MAX - 32);
    for (uint32_t i = 0; i < m->len; i++) {
        x ^= x << 13; x ^= x >> 17; x ^= x << 5;
        m->body[i] = (unsigned char)x;
    }
    *rng = x;
    m->sum = body_digest(m->body, m->len);
}

static void *publisher_main(void *arg)
{
    struct publisher *p = arg;
    struct msg m;
    while (p->sent < (uint64_t)rounds) {
        uint32_t key = p->rng % 8;
        if (!router_accepts(broker.router, key)) {
            stats_error();
            key = 0;
        }
        if (atomic_load_explicit(&conf.inflight, memory_order_relaxed) > conf.high_water) {
            p->stalls++;
            sched_yield();
            continue;
        }
        fill(&m, &p->rng);
        m.topic = key;
        m.id = atomic_fetch_add_explicit(&next_msg_id, 1, memory_order_relaxed);
        topic_note_publish(broker.topics[key % MAX_TOPICS], m.len);
        while (!ring_put(p->out, &m)) {
            p->stalls++;
            sched_yield();
        }
        p->sent++;
        atomic_fetch_add_explicit(&conf.inflight, 1, memory_order_relaxed);
    }
    atomic_fetch_sub(&publishers_left, 1);
    return NULL;
}

static void *dispatcher_main(void *arg)
{
    struct broker *b = arg;
    struct msg m;
    unsigned next = 0;
    for (;;) {
        int idle = 1;
        int last = atomic_load(&publishers_left) == 0;
        for (int i = 0; i < b->npubs; i++) {
            for (int n = 0; n < 16 && ring_take(b->in[i], &m); n++) {
                idle = 0;
                m.topic = router_find(b->router, m.topic);
                while (!ring_put(b->out[next % (unsigned)b->nsubs], &m))
                    sched_yield();
                next++;
            }
        }
        if (idle) {
            if (last)
                break;
            sched_yield();
        }
    }
    atomic_store(&dispatch_done, 1);
    return NULL;
}

static void ack(struct consumer *c)
{
    if (++broker.credits[c->id] % (int32_t)conf.ack_every == 0) {
        stats_ack();
        c->acked++;
    }
}

static void dead_letter(uint64_t id)
{
    pthread_mutex_lock(&broker.dlq.lock);
    broker.dlq.count++;
    broker.dlq.last_id = id;
    pthread_mutex_unlock(&broker.dlq.lock);
}

static void *consumer_main(void *arg)
{
    struct consumer *c = arg;
    struct msg m;
    for (;;) {
        int done = atomic_load(&dispatch_done);
        if (!ring_take(c->in, &m)) {
            if (done)
                break;
            sched_yield();
            continue;
        }
        memcpy(c->scratch, m.body, m.len);
        uint64_t d = body_digest(c->scratch, m.len);
        if (d != m.sum)
            dead_letter(m.id);
        c->digest ^= d;
        atomic_fetch_sub_explicit(&conf.inflight, 1, memory_order_relaxed);
        topic_advance(broker.topics[m.topic], d);
        if (broker_accepting)
            ack(c);
        stats_delivered((int)c->id, m.len);
        stats_topic(m.topic, m.len);
        if (conf.trace)
            fprintf(stderr, "%s: %lu\n", instance_name, (unsigned long)m.id);
    }
    return NULL;
}

static void *housekeeper_main(void *arg)
{
    (void)arg;
    while (!atomic_load(&dispatch_done)) {
        usleep(200000);
        stats_tick();
    }
    return NULL;
}

static void setup(int npubs, int nsubs)
{
    static const char *names[MAX_TOPICS] = {"orders", "quotes", "audit", "misc"};
    broker.npubs = npubs;
    broker.nsubs = nsubs;
    broker.router = router_new(8);
    for (uint32_t i = 0; i < MAX_TOPICS; i++)
        broker.topics[i] = topic_new(names[i], i);
    for (int i = 0; i < npubs; i++)
        broker.in[i] = ring_new(256, (uint32_t)i);
    for (int i = 0; i < nsubs; i++)
        broker.out[i] = ring_new(256, (uint32_t)i);
    broker.credits = calloc((size_t)nsubs, sizeof *broker.credits);
    publishers = calloc((size_t)npubs, sizeof *publishers);
    pthread_mutex_init(&broker.dlq.lock, NULL);
    const char *name = getenv("MQ_INSTANCE");
    if (name)
        instance_name = strdup(name);
}

int main(int argc, char **argv)
{
    enum { PUBS = 2, SUBS = 2 };
    pthread_t pub[PUBS], sub[SUBS], disp, house;
    if (argc > 1)
        rounds = atol(argv[1]);
    setup(PUBS, SUBS);
    atomic_store(&publishers_left, PUBS);
    for (int i = 0; i < PUBS; i++) {
        publishers[i].id = (uint32_t)i;
        publishers[i].rng = 2463534242u + (uint32_t)i * 77u;
        publishers[i].out = broker.in[i];
        pthread_create(&pub[i], NULL, publisher_main, &publishers[i]);
    }
    pthread_create(&disp, NULL, dispatcher_main, &broker);
    struct consumer *cons[SUBS];
    for (int i = 0; i < SUBS; i++) {
        cons[i] = aligned_alloc(64, 192);
        memset(cons[i], 0, 192);
        cons[i]->id = (uint32_t)i;
        cons[i]->in = broker.out[i];
        pthread_create(&sub[i], NULL, consumer_main, cons[i]);
    }
    pthread_create(&house, NULL, housekeeper_main, NULL);
    for (int i = 0; i < PUBS; i++)
        pthread_join(pub[i], NULL);
    pthread_join(disp, NULL);
    uint64_t x = 0;
    for (int i = 0; i < SUBS; i++) {
        pthread_join(sub[i], NULL);
        x ^= cons[i]->digest;
        free(cons[i]);
    }
    broker_accepting = 0;
    pthread_join(house, NULL);
    printf("%s: digest %016lx, dead %lu\n", instance_name, (unsigned long)x, (unsigned long)broker.dlq.count);
    stats_print(SUBS);
    return 0;
}
