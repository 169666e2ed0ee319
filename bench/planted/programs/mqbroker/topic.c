#include "mq.h"
#include <stdlib.h>
#include <string.h>

struct topic *topic_new(const char *name, uint32_t index)
{
    struct topic *t = calloc(1, sizeof *t);
    if (!t)
        abort();
    strncpy(t->name, name, sizeof t->name - 1);
    t->index = index;
    t->flags = index & 1;
    pthread_mutex_init(&t->sub_lock, NULL);
    return t;
}

/* publishing side: no lock, the count is all we keep */
void topic_note_publish(struct topic *t, uint32_t len)
{
    if (len > conf.max_payload) {
        t->rejected++;
        stats_error();
        return;
    }
    atomic_fetch_add_explicit(&t->published, 1, memory_order_relaxed);
}

/* subscriber side */
uint32_t topic_advance(struct topic *t, uint64_t digest)
{
    pthread_mutex_lock(&t->sub_lock);
    uint32_t c = ++t->cursor;
    t->last_digest = (uint32_t)(digest ^ (digest >> 32));
    pthread_mutex_unlock(&t->sub_lock);
    return c;
}
