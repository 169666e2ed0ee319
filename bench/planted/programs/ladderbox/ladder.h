/*
 *
 * ladderbox - a soft controller: scan tasks run chains of function blocks
 * over an image of inputs and outputs, a field bus driver moves the image,
 * a historian samples the tags, an operator panel looks at everything.
 */
#ifndef LADDER_H
#define LADDER_H

#include "lb_base.h"

#define NTASK     3
#define NBLOCK    24
#define NTAG      18
#define NINPUT    24
#define NOUTPUT   NTASK
#define NEVENT    64

/* ---- function blocks ---- */

struct fblock;

struct fb_ops {
    const char *fo_name;
    s32       (*fo_eval)(struct fblock *fb, s32 in);
};

/* Six words; the slab packs them one behind the other. */
struct fblock {
    struct list_head     fb_node;
    const struct fb_ops *fb_ops;
    s32                  fb_param;
    s32                  fb_acc;      /* its task */
    u32                  fb_execs;    /* its task */
    u32                  fb_peeks;    /* operator panel */
};

/* ---- tags ---- */

struct tag {
    struct list_head tg_node;
    char             tg_label[8];
    s32              tg_scale;       /* fixed */
    s32              tg_value;       /* the task that owns it */
    u32              tg_stamp;       /* the task that owns it */
    u32              tg_samples;     /* historian */
    s32              tg_low, tg_high;/* historian */
};

/* ---- scan tasks ---- */

struct scan_task {
    struct list_head tk_chain;
    u16              tk_no;
    u16              tk_prio;
    u32              tk_phase;
    u32              tk_cycles;
    s32              tk_result;
    u32              tk_noise;       /* of the inputs; shown on request */
    u32              tk_missed;      /* the panel: cycles it did not see */
    struct kthread   tk_thread;
};

/* ---- the image ---- */

struct io_image {
    u16 im_in[NINPUT];               /* driver */
    u16 im_out[NOUTPUT];             /* one for each task */
    u32 im_seq;                      /* driver */
    u32 im_reads;                    /* driver: outputs fetched */
};

/* ---- events ---- */

struct event {
    struct list_head ev_node;
    u32              ev_code;
    s32              ev_arg;
};

struct event_queue {
    struct klock     eq_lock;
    struct list_head eq_list;
    u32              eq_depth;
    u32              eq_limit;       /* fixed */
    u32              eq_mask;        /* fixed: which codes are wanted */
    u32              eq_drained;     /* panel, outside the lock */
    u32              eq_refused;     /* tasks, codes nobody wants */
};

struct settings {
    u32  st_cycles;
    u32  st_deadband;
    u32  st_every;
    bool st_verbose;
};

extern struct settings    settings;
extern struct io_image    image;
extern struct scan_task   tasks[NTASK];
extern struct tag        *tag_table[NTAG];
extern struct event_queue events;
extern struct gate        start_gate;

/* blocks.c */
void blocks_init(void);
void task_main(void *arg);
u32  blocks_report(void);
void panel_peek(struct scan_task *tk);

/* tags.c */
void tags_init(void);
void tag_write(u32 no, s32 value, u32 stamp);
void historian_main(void *arg);
u32  tags_report(void);

/* bus.c */
void bus_main(void *arg);
void bus_report(void);

/* events.c */
void events_init(void);
void event_post(u32 code, s32 arg);
u32  events_drain(void);
void events_report(void);

/* panel.c */
void panel_main(void *arg);
void panel_report(void);

/* watch.c */
void watch_kick(u32 task);
u32  watch_check(void);
void watch_report(void);

#endif
