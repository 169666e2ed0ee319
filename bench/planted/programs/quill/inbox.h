/* A bounded queue from the event loop to one worker. */
#ifndef QUILL_INBOX_H
#define QUILL_INBOX_H

#include <stdatomic.h>
#include <stdbool.h>

#include "conn.h"

#define INBOX_SLOTS 32u

struct inbox {
    struct conn **slots;
    unsigned int mask;
    atomic_uint head;      /* next to take */
    atomic_uint tail;      /* next to fill */
    unsigned int full;     /* how often the event loop had to wait */
};

struct inbox *inbox_new(void);
void inbox_free(struct inbox *q);
bool inbox_push(struct inbox *q, struct conn *c);
struct conn *inbox_pop(struct inbox *q);

#endif
