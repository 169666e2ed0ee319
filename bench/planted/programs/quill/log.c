#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "server.h"

static struct access_log *alog;

void log_open(unsigned int level)
{
    alog = aligned_alloc(64, 640);
    if (!alog)
        abort();
    memset(alog, 0, sizeof(*alog));
    pthread_mutex_init(&alog->lock, NULL);
    alog->level = level;
}

/* One line for each request; the buffer starts over where it is full. */
void log_access(const struct conn *c, int status)
{
    char line[24];
    unsigned int n = 0;
    unsigned int id = c->id;

    do {
        line[n++] = (char)('0' + id % 10);
        id /= 10;
    } while (id);
    line[n++] = ' ';
    line[n++] = (char)('0' + status / 100);
    line[n++] = '\n';

    pthread_mutex_lock(&alog->lock);
    if (alog->used + n > sizeof(alog->buf))
        alog->used = 0;
    memcpy(alog->buf + alog->used, line, n);
    alog->used += n;
    alog->lines++;
    pthread_mutex_unlock(&alog->lock);
}

void log_defer(unsigned int worker)
{
    if (alog->level >= 2)
        fprintf(stderr, "deferred for worker %u\n", worker);
}

void log_close(void)
{
    printf("  log lines: %lu\n", alog->lines);
    pthread_mutex_destroy(&alog->lock);
    free(alog);
}
