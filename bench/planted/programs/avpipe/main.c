#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pipeline.h"

mclock master_clock;
int trace_level = 1;
long trace_seq;
long control_polls;
atomic_int pipeline_done;

static void stage_thread(void *arg)
{
    stage *s = arg;

    s->run(s->owner, s);
}

static void stage_init(pipeline *p, int i, const char *name, void (*run)(pipeline *, stage *))
{
    stage *s = &p->stages[i];

    s->name = name;
    s->run = run;
    s->owner = p;
    s->in = i == ST_SOURCE ? NULL : bqueue_new();
}

int main(int argc, char **argv)
{
    thr control;
    pipeline *p = calloc(1, sizeof(*p));

    p->nframes = argc > 1 ? atoll(argv[1]) : 5000;
    p->pool = frame_pool_new(24);
    p->mix = aligned_alloc(64, 64);
    memset(p->mix, 0, 64);
    thr_mutex_init(&p->mix->mu);
    p->mix->gain = 256;
    p->mix->bias = 1;
    p->peaks = calloc(NSTAGES, sizeof(*p->peaks));
    stage_init(p, ST_SOURCE, "source", stage_source);
    stage_init(p, ST_FILTER, "filter", stage_filter);
    stage_init(p, ST_ENCODE, "encode", stage_encode);
    stage_init(p, ST_PREVIEW, "preview", stage_preview);

    for (int i = 0; i < NSTAGES; i++)
        thr_spawn(&p->stages[i].thread, stage_thread, &p->stages[i]);
    thr_spawn(&control, mixer_control, p);
    for (int i = 0; i < NSTAGES; i++)
        thr_join(&p->stages[i].thread);
    atomic_store(&pipeline_done, 1);
    thr_join(&control);

    for (int i = 0; i < NSTAGES; i++)
        printf("%-8s %ld frames, checksum %ld\n", p->stages[i].name, p->stages[i].frames, p->stages[i].checksum);
    master_clock.drift = master_clock.encode_pts - master_clock.preview_pts;
    printf("drift %lld\n", (long long)master_clock.drift);
    for (int i = ST_FILTER; i < NSTAGES; i++)
        free(p->stages[i].in);
    frame_pool_free(p->pool, 24);
    free(p->peaks);
    free(p->mix);
    free(p);
    return 0;
}
