// gauge.h - in-process metrics: counters, histograms, collectors, a sink.
//
// Counters and histograms are updated by application threads; collectors are
// callbacks which sampler threads run; the sink thread formats and "sends".

#ifndef GAUGE_H
#define GAUGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <threads.h>

#define GG_MAX_SHARDS      8
#define GG_MAX_METRICS     32
#define GG_MAX_COLLECTORS  8
#define GG_BUCKETS         8
#define GG_SINK_DEPTH      32

typedef enum { GG_OK, GG_FULL, GG_NOMEM, GG_THREAD } gg_status;

typedef struct gg_metric
{
  const char *name;
  _Atomic uint64_t value;
  uint32_t flags;
  uint32_t updates;
} gg_metric;

typedef struct gg_sharded
{
  const char *name;
  uint64_t shard[GG_MAX_SHARDS];
} gg_sharded;

typedef struct gg_histogram
{
  uint64_t bound[GG_BUCKETS];
  _Atomic uint32_t bucket[GG_BUCKETS];
} gg_histogram;

typedef uint64_t (*gg_collect_fn) (void *arg);

typedef struct gg_collector
{
  gg_collect_fn fn;
  void *arg;
  uint64_t runs;
  uint64_t last;
} gg_collector;

typedef struct gg_window
{
  uint64_t count;
  uint64_t sum;
  uint64_t max;
} gg_window;

typedef struct gg_sample
{
  uint32_t metric;
  uint32_t sampler;
  uint64_t value;
} gg_sample;

typedef struct gg_sink
{
  mtx_t lock;
  uint32_t head;                // under lock
  uint32_t tail;                // under lock
  uint64_t dropped;             // under lock
  uint64_t sent;                // sink thread
  uint64_t digest;              // sink thread
  gg_sample queue[GG_SINK_DEPTH];
} gg_sink;

typedef struct gg_sampler
{
  thrd_t thread;
  uint32_t id;
  uint32_t first;
  uint64_t rounds;
  uint64_t smoothed;
  struct gg_registry *registry;
} gg_sampler;

typedef struct gg_registry
{
  gg_metric *slab;
  uint32_t n_metrics;
  uint32_t n_samplers;
  mtx_t lock;                   // registration only
  gg_sampler *samplers;
  gg_sink *sink;
  _Atomic int running;
  _Atomic uint32_t n_shards;
} gg_registry;

gg_registry *gg_registry_new (uint32_t samplers);
void gg_registry_free (gg_registry *reg);
gg_metric *gg_metric_new (gg_registry *reg, const char *name);
gg_status gg_collector_add (gg_collect_fn fn, void *arg);
gg_status gg_start (gg_registry *reg);
void gg_stop (gg_registry *reg);
void gg_dump (const gg_registry *reg);

void gg_add (gg_metric *m, uint64_t n);
void gg_sharded_add (gg_registry *reg, gg_sharded *s, uint64_t n);
uint64_t gg_sharded_sum (const gg_sharded *s);
void gg_observe (gg_histogram *h, uint64_t v);
void gg_window_add (uint64_t v);
void gg_window_flip (void);
uint64_t gg_now (void);
int gg_log_level (void);
void gg_set_log_level (int level);

gg_sink *gg_sink_new (void);
bool gg_sink_push (gg_sink *s, gg_sample v);
bool gg_sink_send (gg_sink *s);

extern gg_collector gg_collectors[GG_MAX_COLLECTORS];

#endif
