/*
 *
 * panel.c - the operator's panel, and main().
 */
#include "ladder.h"

struct settings settings = {
    .st_cycles   = 1500000,
    .st_deadband = 4,
    .st_every    = 100,
};
struct gate start_gate;

static struct kthread bus_thread;
static struct kthread historian_thread;
static struct kthread panel_thread;
static u32            panel_refreshes;    /* panel */
static u32            panel_stale;        /* panel */
static u32            exit_code;          /* main, at the end */

/* Commands by name, for the operator; none comes in a test. */
static void cmd_force(s32 v)
{
    tag_table[0]->tg_scale = v;
}

static void cmd_mask(s32 v)
{
    WRITE_ONCE(events.eq_mask, (u32)v);
}

static const struct {
    const char *name;
    void      (*act)(s32 v);
} commands[] = {
    { "force", cmd_force },
    { "mask",  cmd_mask },
};

static const char *pending_command;
static s32         pending_value;

static void run_command(void)
{
    u32 i;

    for (i = 0; i < ARRAY_SIZE(commands); i++)
        if (!strcmp(commands[i].name, pending_command))
            commands[i].act(pending_value);
    pending_command = NULL;
}

void panel_main(void *arg)
{
    (void)arg;
    gate_pass(&start_gate);
    while (!kt_should_stop()) {
        panel_peek(&tasks[panel_refreshes % NTASK]);
        panel_stale += watch_check();
        panel_refreshes++;
        if (pending_command)
            run_command();
        if (!events_drain())
            kt_pause();
    }
    events_drain();
}

void panel_report(void)
{
    if (settings.st_verbose)
        printf("panel: %u refreshes, %u stale\n", panel_refreshes, panel_stale);
}

int main(int argc, char **argv)
{
    u32 i, sum;

    for (i = 1; i < (u32)argc; i++) {
        if (!strcmp(argv[i], "-v"))
            settings.st_verbose = true;
        else if (atoi(argv[i]) > 0)
            settings.st_cycles = (u32)atoi(argv[i]);
        else
            die("usage: ladderbox [-v] [cycles]");
    }
    blocks_init();
    tags_init();
    events_init();
    gate_init(&start_gate, NTASK + 3);

    kt_spawn(&bus_thread, "bus", bus_main, NULL);
    kt_spawn(&historian_thread, "historian", historian_main, NULL);
    kt_spawn(&panel_thread, "panel", panel_main, NULL);
    for (i = 0; i < NTASK; i++)
        kt_spawn(&tasks[i].tk_thread, "task", task_main, &tasks[i]);

    for (i = 0; i < NTASK; i++)
        kt_join(&tasks[i].tk_thread);
    kt_join(&panel_thread);
    kt_join(&historian_thread);
    kt_join(&bus_thread);

    sum = blocks_report();
    sum += tags_report();
    bus_report();
    events_report();
    watch_report();
    panel_report();
    printf("sum %u\n", sum);
    return (int)exit_code;
}
