/* */
#include "lb_base.h"
#include <sched.h>

__thread struct kthread *kt_self;

static u32 kt_spawned;        /* main only */

void die(const char *why)
{
    fprintf(stderr, "ladderbox: %s\n", why);
    exit(1);
}

void slab_setup(struct slab *s, const char *name, u32 size, u32 total, void *mem)
{
    if (!mem)
        die("no memory for a slab");
    s->sl_name = name;
    s->sl_size = size;
    s->sl_total = total;
    s->sl_used = 0;
    s->sl_mem = mem;
}

void *slab_take(struct slab *s)
{
    if (s->sl_used == s->sl_total)
        die(s->sl_name);
    return s->sl_mem + (size_t)s->sl_size * s->sl_used++;
}

static void *kt_entry(void *p)
{
    struct kthread *t = p;

    kt_self = t;
    t->kt_main(t->kt_arg);
    return NULL;
}

void kt_spawn(struct kthread *t, const char *name, kt_fn fn, void *arg)
{
    t->kt_name = name;
    t->kt_main = fn;
    t->kt_arg = arg;
    if (pthread_create(&t->kt_id, NULL, kt_entry, t))
        die("no thread");
    kt_spawned++;
}

void kt_join(struct kthread *t)
{
    WRITE_ONCE(t->kt_stop, 1);
    pthread_join(t->kt_id, NULL);
}

bool kt_should_stop(void)
{
    kt_self->kt_wakes++;
    return READ_ONCE(kt_self->kt_stop);
}

void kt_pause(void)
{
    sched_yield();
}

void klock_init(struct klock *l)
{
    pthread_mutex_init(&l->kl_mutex, NULL);
    l->kl_taken = 0;
}

void klock_take(struct klock *l)
{
    pthread_mutex_lock(&l->kl_mutex);
    l->kl_taken++;
}

void klock_drop(struct klock *l)
{
    pthread_mutex_unlock(&l->kl_mutex);
}

void gate_init(struct gate *g, u32 need)
{
    pthread_mutex_init(&g->ga_mutex, NULL);
    pthread_cond_init(&g->ga_cond, NULL);
    g->ga_need = need;
    g->ga_here = 0;
}

void gate_pass(struct gate *g)
{
    pthread_mutex_lock(&g->ga_mutex);
    if (++g->ga_here == g->ga_need)
        pthread_cond_broadcast(&g->ga_cond);
    while (g->ga_here < g->ga_need)
        pthread_cond_wait(&g->ga_cond, &g->ga_mutex);
    pthread_mutex_unlock(&g->ga_mutex);
}
