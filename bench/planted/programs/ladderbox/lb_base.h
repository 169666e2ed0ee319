/*
 *
 * lb_base.h - lists, slabs and threads for the soft controller.
 */
#ifndef LB_BASE_H
#define LB_BASE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef uint8_t  u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int32_t  s32;

#define container_of(p, type, member) ((type *)((char *)(p) - offsetof(type, member)))
#define ARRAY_SIZE(a)   (sizeof(a) / sizeof((a)[0]))
#define READ_ONCE(x)    __atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x,v) __atomic_store_n(&(x), (v), __ATOMIC_RELAXED)
#define __cacheline_aligned __attribute__((aligned(64)))

/* ---- intrusive list ---- */

struct list_head {
    struct list_head *next, *prev;
};

#define LIST_HEAD_INIT(name) { &(name), &(name) }

static inline void list_init(struct list_head *h)
{
    h->next = h->prev = h;
}

static inline bool list_empty(const struct list_head *h)
{
    return h->next == h;
}

static inline void list_add_tail(struct list_head *n, struct list_head *h)
{
    n->next = h;
    n->prev = h->prev;
    h->prev->next = n;
    h->prev = n;
}

static inline void list_del(struct list_head *n)
{
    n->prev->next = n->next;
    n->next->prev = n->prev;
}

#define list_for_each(pos, head) \
    for (pos = (head)->next; pos != (head); pos = pos->next)

/* ---- slab: equal objects cut out of one block, never given back ---- */

struct slab {
    const char *sl_name;
    u32         sl_size;
    u32         sl_total;
    u32         sl_used;
    char       *sl_mem;
};

void  slab_setup(struct slab *s, const char *name, u32 size, u32 total, void *mem);
void *slab_take(struct slab *s);

/* ---- threads ---- */

typedef void (*kt_fn)(void *arg);

struct kthread {
    pthread_t   kt_id;
    const char *kt_name;
    kt_fn       kt_main;
    void       *kt_arg;
    u32         kt_wakes;     /* by the thread itself */
    u32         kt_stop;      /* set by main */
};

extern __thread struct kthread *kt_self;

void kt_spawn(struct kthread *t, const char *name, kt_fn fn, void *arg);
void kt_join(struct kthread *t);
bool kt_should_stop(void);
void kt_pause(void);

/* A mutex that counts how often it is taken. */
struct klock {
    pthread_mutex_t kl_mutex;
    u32             kl_taken;
};

void klock_init(struct klock *l);
void klock_take(struct klock *l);
void klock_drop(struct klock *l);

/* A gate: everybody waits here until all have come. */
struct gate {
    pthread_mutex_t ga_mutex;
    pthread_cond_t  ga_cond;
    u32             ga_need;
    u32             ga_here;
};

void gate_init(struct gate *g, u32 need);
void gate_pass(struct gate *g);

void die(const char *why) __attribute__((noreturn));

#endif
