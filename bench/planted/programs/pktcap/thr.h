/* thin wrapper, so that the port to the RTOS has one file to change */
#ifndef THR_H
#define THR_H
#include <pthread.h>

typedef void (*thr_fn)(void *arg);

struct thr {
    pthread_t tid;
    const char *name;
    thr_fn fn;
    void *arg;
    int started;
};

int  thr_start(struct thr *t, const char *name, thr_fn fn, void *arg);
void thr_join(struct thr *t);
void thr_yield(void);
#endif
