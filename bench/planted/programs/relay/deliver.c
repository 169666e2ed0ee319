#include "relay.h"
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

struct outq outq __attribute__((aligned(64))) = { .lock = PTHREAD_MUTEX_INITIALIZER };
static _Atomic int closing;
static uint64_t out_of_memory;

void outq_put(struct session *s, uint32_t size)
{
    struct mail *m = malloc(sizeof *m);

    if (!m) {
        out_of_memory++;
        return;
    }
    m->s = s;
    m->size = size;
    m->prio = size < 512;
    pthread_mutex_lock(&outq.lock);
    m->next = outq.first;
    outq.first = m;
    pthread_mutex_unlock(&outq.lock);
    __atomic_fetch_add(&outq.depth_hint, 1, __ATOMIC_RELAXED);
}

struct mail *outq_take(void)
{
    struct mail *m;

    pthread_mutex_lock(&outq.lock);
    m = outq.first;
    if (m)
        outq.first = m->next;
    pthread_mutex_unlock(&outq.lock);
    return m;
}

static uint32_t dot_stuff(uint32_t seed, uint32_t size, unsigned char *buf)
{
    uint32_t h = seed;
    uint32_t n = size & 127;

    memset(buf, (int)seed, n);
    for (uint32_t i = 0; i < n; i++) {
        h = h * 33 + buf[i];
        if (buf[i] == '.')
            h++;
    }
    return h;
}

void *courier_main(void *arg)
{
    struct courier *c = arg;
    unsigned char *buf = aligned_alloc(64, 128);
    struct mail *m;

    for (;;) {
        m = outq_take();
        if (!m) {
            if (atomic_load(&closing))
                break;
            sched_yield();
            continue;
        }
        m->s->attempts++;
        m->s->delivered += m->size;
        if (dot_stuff(m->s->id, m->size, buf) == 1)
            m->s->bounces++;
        c->mails++;
        c->octets += m->size;
        free(m);
    }
    free(buf);
    return NULL;
}

void deliver_stop(void)
{
    atomic_store(&closing, 1);
}
