#include "thr.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

struct start {
    thr_fn fn;
    void *arg;
};

static void *trampoline(void *p)
{
    struct start s = *(struct start *)p;

    free(p);
    s.fn(s.arg);
    return NULL;
}

void thr_mutex_init(thr_mutex *mu) { pthread_mutex_init(&mu->m, NULL); }
void thr_lock(thr_mutex *mu) { pthread_mutex_lock(&mu->m); }
void thr_unlock(thr_mutex *mu) { pthread_mutex_unlock(&mu->m); }
void thr_cond_init(thr_cond *cv) { pthread_cond_init(&cv->c, NULL); }
void thr_wait(thr_cond *cv, thr_mutex *mu) { pthread_cond_wait(&cv->c, &mu->m); }
void thr_signal(thr_cond *cv) { pthread_cond_signal(&cv->c); }
void thr_relax(void) { sched_yield(); }

void thr_spawn(thr *t, thr_fn fn, void *arg)
{
    struct start *s = malloc(sizeof(*s));

    if (!s) {
        fputs("thr_spawn: no memory\n", stderr);
        exit(1);
    }
    s->fn = fn;
    s->arg = arg;
    if (pthread_create(&t->id, NULL, trampoline, s)) {
        fputs("thr_spawn: no thread\n", stderr);
        exit(1);
    }
}

void thr_join(thr *t) { pthread_join(t->id, NULL); }
