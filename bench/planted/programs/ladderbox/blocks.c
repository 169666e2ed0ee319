/*
 *
 * blocks.c - the function blocks and the tasks that run them.
 */
#include "ladder.h"

struct scan_task tasks[NTASK];

static struct slab fb_slab;

/* Evaluations of each kind of block, by all tasks; not exact. */
static u32 kind_evals[5];
/* Task results that were out of band, one byte for each task. */
static u8  out_of_band[NTASK];
static u32 divisions_by_zero;    /* seldom */

static s32 fb_add(struct fblock *fb, s32 in)
{
    __atomic_fetch_add(&kind_evals[0], 1, __ATOMIC_RELAXED);
    fb->fb_acc = (s32)((u32)fb->fb_acc + (u32)in + (u32)fb->fb_param);
    return fb->fb_acc & 0xffff;
}

static s32 fb_lag(struct fblock *fb, s32 in)
{
    __atomic_fetch_add(&kind_evals[1], 1, __ATOMIC_RELAXED);
    fb->fb_acc += (in - fb->fb_acc) >> (fb->fb_param & 3);
    return fb->fb_acc;
}

static s32 fb_limit(struct fblock *fb, s32 in)
{
    s32 top = fb->fb_param << 4;

    __atomic_fetch_add(&kind_evals[2], 1, __ATOMIC_RELAXED);
    if (in > top) {
        fb->fb_acc++;
        return top;
    }
    return in < 0 ? 0 : in;
}

static s32 fb_ratio(struct fblock *fb, s32 in)
{
    __atomic_fetch_add(&kind_evals[3], 1, __ATOMIC_RELAXED);
    if (fb->fb_param == 0) {
        divisions_by_zero++;
        return in;
    }
    fb->fb_acc = in * 7 / fb->fb_param;
    return fb->fb_acc;
}

static s32 fb_timer(struct fblock *fb, s32 in)
{
    __atomic_fetch_add(&kind_evals[4], 1, __ATOMIC_RELAXED);
    if (++fb->fb_acc >= fb->fb_param)
        fb->fb_acc = 0;
    return in ^ fb->fb_acc;
}

static const struct fb_ops kinds[5] = {
    { "ADD",   fb_add },
    { "LAG",   fb_lag },
    { "LIMIT", fb_limit },
    { "RATIO", fb_ratio },
    { "TIMER", fb_timer },
};

void blocks_init(void)
{
    struct fblock *fb;
    u32 i;

    slab_setup(&fb_slab, "function blocks", sizeof(struct fblock), NBLOCK,
               calloc(NBLOCK, sizeof(struct fblock)));
    for (i = 0; i < NTASK; i++) {
        list_init(&tasks[i].tk_chain);
        tasks[i].tk_no = (u16)i;
        tasks[i].tk_prio = (u16)(10 - i);
        tasks[i].tk_phase = i * 5;
    }
    /* As the engineering tool writes them: block by block, any task. */
    for (i = 0; i < NBLOCK; i++) {
        fb = slab_take(&fb_slab);
        fb->fb_ops = &kinds[i % ARRAY_SIZE(kinds)];
        fb->fb_param = (s32)(3 + i * 5 % 17);
        list_add_tail(&fb->fb_node, &tasks[i % NTASK].tk_chain);
    }
}

static s32 run_chain(struct scan_task *tk, s32 v)
{
    struct list_head *pos;

    list_for_each(pos, &tk->tk_chain) {
        struct fblock *fb = container_of(pos, struct fblock, fb_node);

        v = fb->fb_ops->fo_eval(fb, v) & 0x7fff;
        fb->fb_execs++;
    }
    return v;
}

static u32 next_stamp(struct scan_task *tk)
{
    static u32 stamps[NTASK];

    return ++stamps[tk->tk_no];
}

/* A raw input; nothing that is computed depends on it but for its noise. */
static u32 input_noise(struct scan_task *tk)
{
    u32 i = (tk->tk_cycles + tk->tk_phase) % NINPUT;

    return READ_ONCE(image.im_in[i]);
}

void task_main(void *arg)
{
    struct scan_task *tk = arg;
    u32 no = tk->tk_no, stamp;
    s32 v = 0;

    gate_pass(&start_gate);
    while (tk->tk_cycles < settings.st_cycles) {
        v = run_chain(tk, v + (s32)tk->tk_cycles % 911);
        tk->tk_noise += input_noise(tk);
        stamp = next_stamp(tk);
        WRITE_ONCE(image.im_out[no], (u16)v);
        tag_write(no + NTASK * (stamp % (NTAG / NTASK)), v, stamp);
        if (v > 0x4000)
            out_of_band[no]++;
        if (stamp % 4 == no)
            event_post(stamp % 5, v);
        tk->tk_result = (s32)((u32)tk->tk_result * 33 + (u32)v);
        tk->tk_cycles++;
        watch_kick(no);
    }
}

/* The operator's panel counts its looks in the block that it looks at. */
void panel_peek(struct scan_task *tk)
{
    struct list_head *pos;

    list_for_each(pos, &tk->tk_chain) {
        struct fblock *fb = container_of(pos, struct fblock, fb_node);

        fb->fb_peeks++;
    }
    if (READ_ONCE(tk->tk_cycles) < 2)
        tk->tk_missed++;
}

u32 blocks_report(void)
{
    u32 i, sum = 0;

    for (i = 0; i < NTASK; i++) {
        printf("task %u: %u cycles, result %08x, out of band %u\n", i,
               tasks[i].tk_cycles, (u32)tasks[i].tk_result, out_of_band[i]);
        sum += (u32)tasks[i].tk_result;
    }
    for (i = 0; i < ARRAY_SIZE(kinds); i++)
        printf("%-5s %u\n", kinds[i].fo_name, kind_evals[i]);
    if (settings.st_verbose)
        printf("noise %u %u %u\n", tasks[0].tk_noise, tasks[1].tk_noise, tasks[2].tk_noise);
    printf("divisions by zero %u\n", divisions_by_zero);
    return sum;
}
