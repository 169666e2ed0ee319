/* Threads, the little that this project needs of them. */
#ifndef AV_THR_H
#define AV_THR_H

#include <pthread.h>

typedef struct thr_mutex { pthread_mutex_t m; } thr_mutex;
typedef struct thr_cond { pthread_cond_t c; } thr_cond;
typedef struct thr { pthread_t id; } thr;
typedef void (*thr_fn)(void *arg);

void thr_mutex_init(thr_mutex *mu);
void thr_lock(thr_mutex *mu);
void thr_unlock(thr_mutex *mu);
void thr_cond_init(thr_cond *cv);
void thr_wait(thr_cond *cv, thr_mutex *mu);
void thr_signal(thr_cond *cv);
void thr_spawn(thr *t, thr_fn fn, void *arg);
void thr_join(thr *t);
void thr_relax(void);

#endif
