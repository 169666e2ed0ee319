/*
 *
 * events.c - events from the tasks to the operator.
 */
#include "ladder.h"

struct event_queue events;

/*
 * Free events.  The free list and its lock are used together, always.
 */
static struct klock     ev_pool_lock;
static struct list_head ev_pool;
static u32              ev_pool_left;

/* Seen so far: posted by the tasks, shown by the panel. */
static u32 ev_posted;
static u32 ev_shown;
static u32 ev_sum;
static u32 ev_exhausted;          /* pool empty: event lost; seldom */

void events_init(void)
{
    struct event *all = calloc(NEVENT, sizeof(*all));
    u32 i;

    if (!all)
        die("no memory for events");
    klock_init(&ev_pool_lock);
    list_init(&ev_pool);
    for (i = 0; i < NEVENT; i++) {
        list_add_tail(&all[i].ev_node, &ev_pool);
        ev_pool_left++;
    }
    klock_init(&events.eq_lock);
    list_init(&events.eq_list);
    events.eq_limit = NEVENT;
    events.eq_mask = 0x15;
}

static struct event *event_get(void)
{
    struct event *ev = NULL;

    klock_take(&ev_pool_lock);
    if (!list_empty(&ev_pool)) {
        ev = container_of(ev_pool.next, struct event, ev_node);
        list_del(&ev->ev_node);
        ev_pool_left--;
    }
    klock_drop(&ev_pool_lock);
    return ev;
}

static void event_put(struct event *ev)
{
    klock_take(&ev_pool_lock);
    list_add_tail(&ev->ev_node, &ev_pool);
    ev_pool_left++;
    klock_drop(&ev_pool_lock);
}

void event_post(u32 code, s32 arg)
{
    struct event *ev;

    if (!(READ_ONCE(events.eq_mask) >> code & 1)) {
        __atomic_fetch_add(&events.eq_refused, 1, __ATOMIC_RELAXED);
        return;
    }
    while (!(ev = event_get()))
        kt_pause();
    ev->ev_code = code;
    ev->ev_arg = arg;
    klock_take(&events.eq_lock);
    list_add_tail(&ev->ev_node, &events.eq_list);
    if (++events.eq_depth > events.eq_limit)
        ev_exhausted++;
    klock_drop(&events.eq_lock);
    __atomic_fetch_add(&ev_posted, 1, __ATOMIC_RELAXED);
}

u32 events_drain(void)
{
    struct event *ev;
    u32 n = 0;

    for (;;) {
        ev = NULL;
        klock_take(&events.eq_lock);
        if (!list_empty(&events.eq_list)) {
            ev = container_of(events.eq_list.next, struct event, ev_node);
            list_del(&ev->ev_node);
            events.eq_depth--;
        }
        klock_drop(&events.eq_lock);
        if (!ev)
            return n;
        n++;
        events.eq_drained++;
        ev_sum += ev->ev_code * 1000 + (u32)ev->ev_arg;
        ev_shown++;
        event_put(ev);
    }
}

void events_report(void)
{
    printf("events: %u posted, %u refused, %u shown, %u drained, sum %u, lost %u\n", ev_posted,
           events.eq_refused, ev_shown, events.eq_drained, ev_sum, ev_exhausted);
}
