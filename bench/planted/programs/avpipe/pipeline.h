/* The stages and what they share. */
#ifndef AV_PIPELINE_H
#define AV_PIPELINE_H

#include "bqueue.h"

enum { ST_SOURCE, ST_FILTER, ST_ENCODE, ST_PREVIEW, NSTAGES };

struct pipeline;

typedef struct stage {
    const char *name;
    void (*run)(struct pipeline *p, struct stage *s);
    bqueue *in;
    long frames;
    long checksum;
    thr thread;
    struct pipeline *owner;
} stage;

/* Set by the control thread, used by the filter for each row. */
typedef struct mixer {
    thr_mutex mu;
    int gain;
    int bias;
    int muted;
    int changes;
} mixer;

/* The clock: each stage keeps its own position. */
typedef struct mclock {
    int64_t start_pts;
    int64_t encode_pts;
    int64_t preview_pts;
    int64_t drift;
} mclock;

typedef struct pipeline {
    frame_pool *pool;
    mixer *mix;
    int64_t nframes;
    int *peaks;              /* one for each stage that looks at samples */
    stage stages[NSTAGES];
} pipeline;

extern mclock master_clock;
extern int trace_level;
extern long trace_seq;
extern long control_polls;
extern atomic_int pipeline_done;

void stage_source(pipeline *p, stage *s);
void stage_filter(pipeline *p, stage *s);
void stage_encode(pipeline *p, stage *s);
void stage_preview(pipeline *p, stage *s);
void mixer_control(void *arg);
int mixer_apply(const mixer *m, int sample);

#endif
