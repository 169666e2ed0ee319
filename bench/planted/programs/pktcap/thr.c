#include "thr.h"
#include <sched.h>
#include <stdio.h>

static void *tramp(void *p)
{
    struct thr *t = p;
    t->started = 1;
    t->fn(t->arg);
    return NULL;
}

int thr_start(struct thr *t, const char *name, thr_fn fn, void *arg)
{
    t->name = name;
    t->fn = fn;
    t->arg = arg;
    t->started = 0;
    if (pthread_create(&t->tid, NULL, tramp, t) != 0) {
        fprintf(stderr, "thr: cannot start %s\n", name);
        return -1;
    }
    return 0;
}

void thr_join(struct thr *t)
{
    pthread_join(t->tid, NULL);
}

void thr_yield(void)
{
    sched_yield();
}
