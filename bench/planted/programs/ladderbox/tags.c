/*
 *
 * tags.c - named values, and the historian that samples them.
 */
#include "ladder.h"

#define NARCHIVE 128

struct tag *tag_table[NTAG];

static struct list_head tag_list = LIST_HEAD_INIT(tag_list);
static u32 writes_total[NTASK];   /* tasks, one each */
static u32 archive_pos;           /* historian */
static u32 archive_digest;        /* historian */
static u32 tag_lookups;           /* at start */

/* The archive itself: the historian's alone. */
static __cacheline_aligned s32 archive[NARCHIVE];

void tags_init(void)
{
    struct tag *tg;
    u32 i;

    list_init(&tag_list);
    for (i = 0; i < NTAG; i++) {
        tg = calloc(1, sizeof(*tg));
        if (!tg)
            die("no memory for tags");
        snprintf(tg->tg_label, sizeof(tg->tg_label), "T%03u", i);
        tg->tg_scale = (s32)(1 + i % 4);
        tg->tg_low = 0x7fffffff;
        list_add_tail(&tg->tg_node, &tag_list);
        tag_table[i] = tg;
        tag_lookups++;
    }
}

void tag_write(u32 no, s32 value, u32 stamp)
{
    struct tag *tg = tag_table[no];

    WRITE_ONCE(tg->tg_value, value * tg->tg_scale);
    WRITE_ONCE(tg->tg_stamp, stamp);
    writes_total[no % NTASK]++;
}

static void sample(struct tag *tg)
{
    s32 v = READ_ONCE(tg->tg_value);

    if (v < tg->tg_low)
        tg->tg_low = v;
    if (v > tg->tg_high)
        tg->tg_high = v;
    tg->tg_samples++;
    archive_digest = archive_digest * 31 + (u32)v;
    archive[archive_pos % NARCHIVE] = v;
    archive_pos++;
}

void historian_main(void *arg)
{
    struct list_head *pos;

    (void)arg;
    gate_pass(&start_gate);
    while (!kt_should_stop()) {
        list_for_each(pos, &tag_list)
            sample(container_of(pos, struct tag, tg_node));
        kt_pause();
    }
}

u32 tags_report(void)
{
    u32 i, sum = 0;

    for (i = 0; i < NTAG; i++) {
        sum += (u32)tag_table[i]->tg_value + tag_table[i]->tg_stamp;
        if (settings.st_verbose)
            printf("%s: %d at %u, sampled %u, %d to %d\n", tag_table[i]->tg_label,
                   tag_table[i]->tg_value, tag_table[i]->tg_stamp,
                   tag_table[i]->tg_samples, tag_table[i]->tg_low, tag_table[i]->tg_high);
    }
    for (i = 0; i < NTASK; i++)
        printf("task %u wrote %u values\n", i, writes_total[i]);
    if (settings.st_verbose)
        printf("archive %u, digest %08x, first %d\n", archive_pos, archive_digest, archive[0]);
    printf("%u tags, sum %u\n", tag_lookups, sum);
    return sum;
}
