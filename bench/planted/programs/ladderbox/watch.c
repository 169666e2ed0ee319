/*
 *
 * watch.c - the watchdog's page: the tasks kick, the panel checks.
 */
#include "ladder.h"

/* One counter for each task, and what the panel saw last. */
static struct {
    u32 kicks[NTASK];
    u32 seen[NTASK];
    u32 checks;
} watchdog;

/* The slowest task so far; only a change is written. */
static u32 laggard;

/* Diagnosis for each task, on lines of their own. */
static struct diag {
    u32 dg_streak;
    u32 dg_longest;
} __cacheline_aligned diag[NTASK];

void watch_kick(u32 task)
{
    struct diag *dg = &diag[task];

    WRITE_ONCE(watchdog.kicks[task], watchdog.kicks[task] + 1);
    if (++dg->dg_streak == settings.st_every) {
        dg->dg_longest = dg->dg_streak;
        dg->dg_streak = 0;
    }
}

u32 watch_check(void)
{
    u32 i, k, stale = 0;

    for (i = 0; i < NTASK; i++) {
        k = READ_ONCE(watchdog.kicks[i]);
        if (k == watchdog.seen[i])
            stale++;
        watchdog.seen[i] = k;
    }
    watchdog.checks++;
    return stale;
}

void watch_report(void)
{
    u32 i;

    for (i = 0; i < NTASK; i++) {
        if (watchdog.kicks[i] < watchdog.kicks[laggard])
            laggard = i;
        printf("watchdog %u: %u kicks, streak %u\n", i, watchdog.kicks[i], diag[i].dg_longest);
    }
    if (settings.st_verbose)
        printf("%u checks, laggard %u\n", watchdog.checks, laggard);
}
