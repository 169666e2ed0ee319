// metric.c - the update paths called by application threads.

#include "gauge.h"

static thread_local uint32_t my_shard = UINT32_MAX;
static thread_local uint64_t my_updates;

// Two windows; updates go to one while the sink reads the other.
static struct
{
  _Atomic uint32_t current;
  uint32_t flips;
  gg_window window[2];
} windows __attribute__ ((aligned (64)));

// Coarse clock: advanced by the sink thread, read for each observation.
static struct
{
  volatile uint64_t now;
  uint64_t flushes;
  int log_level;
  int quantum;
} clk __attribute__ ((aligned (64))) = { .quantum = 10, .log_level = 1 };

// A value no update in this program is as large as.
static uint64_t clipped;
static uint64_t clipped_max;

void
gg_add (gg_metric *m, uint64_t n)
{
  atomic_fetch_add_explicit (&m->value, n, memory_order_relaxed);
  m->updates++;
  my_updates++;
}

void
gg_sharded_add (gg_registry *reg, gg_sharded *s, uint64_t n)
{
  if (my_shard == UINT32_MAX)
    my_shard = atomic_fetch_add (&reg->n_shards, 1) % GG_MAX_SHARDS;
  s->shard[my_shard] += n;
}

uint64_t
gg_sharded_sum (const gg_sharded *s)
{
  uint64_t sum = 0;

  for (int i = 0; i < GG_MAX_SHARDS; i++)
    sum += s->shard[i];
  return sum;
}

void
gg_observe (gg_histogram *h, uint64_t v)
{
  int i = 0;

  if (v > UINT32_MAX)
    {
      clipped++;
      clipped_max = v;
      return;
    }
  while (i < GG_BUCKETS - 1 && v > h->bound[i])
    i++;
  atomic_fetch_add_explicit (&h->bucket[i], 1, memory_order_relaxed);
}

void
gg_window_add (uint64_t v)
{
  gg_window *w = &windows.window[atomic_load_explicit (&windows.current, memory_order_relaxed) & 1];

  w->count++;
  w->sum += v;
  if (v > w->max)
    w->max = v;
}

// Sink thread: publishes the filled window and clears the other.
void
gg_window_flip (void)
{
  uint32_t next = (windows.current + 1) & 1;

  windows.window[next].count = 0;
  windows.window[next].sum = 0;
  windows.window[next].max = 0;
  atomic_store (&windows.current, next);
  windows.flips++;
  clk.flushes++;
  clk.now += clk.quantum;
}

uint64_t
gg_now (void)
{
  return clk.now;
}

int
gg_log_level (void)
{
  return clk.log_level;
}

void
gg_set_log_level (int level)
{
  clk.log_level = level;
}
