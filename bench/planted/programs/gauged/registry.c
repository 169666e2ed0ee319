// registry.c - registration, sampler threads.

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gauge.h"

gg_collector gg_collectors[GG_MAX_COLLECTORS];
static uint32_t n_collectors;

// What each sampler saw last, for gg_dump.
static uint32_t sampler_pos[4];

static thrd_t sink_thread;

gg_registry *
gg_registry_new (uint32_t samplers)
{
  gg_registry *reg = calloc (1, sizeof *reg);

  if (reg == NULL)
    return NULL;
  reg->slab = aligned_alloc (64, GG_MAX_METRICS * sizeof *reg->slab);
  reg->samplers = calloc (samplers, sizeof *reg->samplers);
  reg->sink = gg_sink_new ();
  if (!reg->slab || !reg->samplers || !reg->sink
      || mtx_init (&reg->lock, mtx_plain) != thrd_success)
    {
      gg_registry_free (reg);
      return NULL;
    }
  memset (reg->slab, 0, GG_MAX_METRICS * sizeof *reg->slab);
  reg->n_samplers = samplers;
  return reg;
}

void
gg_registry_free (gg_registry *reg)
{
  if (reg == NULL)
    return;
  free (reg->sink);
  free (reg->samplers);
  free (reg->slab);
  free (reg);
}

gg_metric *
gg_metric_new (gg_registry *reg, const char *name)
{
  gg_metric *m = NULL;

  mtx_lock (&reg->lock);
  if (reg->n_metrics < GG_MAX_METRICS)
    {
      m = &reg->slab[reg->n_metrics++];
      m->name = name;
    }
  mtx_unlock (&reg->lock);
  return m;
}

gg_status
gg_collector_add (gg_collect_fn fn, void *arg)
{
  if (n_collectors == GG_MAX_COLLECTORS)
    return GG_FULL;
  gg_collectors[n_collectors].fn = fn;
  gg_collectors[n_collectors].arg = arg;
  n_collectors++;
  return GG_OK;
}

// Sampler i runs collectors i, i + n, i + 2n, ...
static int
sampler_main (void *arg)
{
  gg_sampler *s = arg;
  gg_registry *reg = s->registry;

  while (atomic_load_explicit (&reg->running, memory_order_relaxed))
    {
      for (uint32_t i = s->first; i < n_collectors; i += reg->n_samplers)
        {
          gg_collector *c = &gg_collectors[i];
          uint64_t v = c->fn (c->arg);

          c->runs++;
          s->smoothed += (v - s->smoothed) / 8;
          if (v != c->last)
            {
              c->last = v;
              gg_sink_push (reg->sink, (gg_sample) { i, s->id, v });
            }
          sampler_pos[s->id] = i;
        }
      s->rounds++;
      thrd_yield ();
    }
  return 0;
}

static int
sink_main (void *arg)
{
  gg_registry *reg = arg;
  int idle = 0;

  while (atomic_load_explicit (&reg->running, memory_order_relaxed) || idle == 0)
    {
      idle = gg_sink_send (reg->sink) ? 0 : 1;
      gg_window_flip ();
      if (idle)
        thrd_yield ();
    }
  return 0;
}

gg_status
gg_start (gg_registry *reg)
{
  atomic_store (&reg->running, 1);
  if (thrd_create (&sink_thread, sink_main, reg) != thrd_success)
    return GG_THREAD;
  for (uint32_t i = 0; i < reg->n_samplers; i++)
    {
      gg_sampler *s = &reg->samplers[i];

      s->id = s->first = i;
      s->registry = reg;
      if (thrd_create (&s->thread, sampler_main, s) != thrd_success)
        return GG_THREAD;
    }
  return GG_OK;
}

void
gg_stop (gg_registry *reg)
{
  atomic_store (&reg->running, 0);
  for (uint32_t i = 0; i < reg->n_samplers; i++)
    thrd_join (reg->samplers[i].thread, NULL);
  thrd_join (sink_thread, NULL);
}

void
gg_dump (const gg_registry *reg)
{
  for (uint32_t i = 0; i < reg->n_metrics; i++)
    printf ("%-16s %llu (%u)\n", reg->slab[i].name,
            (unsigned long long) reg->slab[i].value, reg->slab[i].updates);
  for (uint32_t i = 0; i < n_collectors; i++)
    printf ("collector %u: %llu runs, last %llu\n", i,
            (unsigned long long) gg_collectors[i].runs,
            (unsigned long long) gg_collectors[i].last);
  for (uint32_t i = 0; i < reg->n_samplers; i++)
    printf ("sampler %u: %llu rounds, at %u\n", i,
            (unsigned long long) reg->samplers[i].rounds, sampler_pos[i]);
  printf ("sink: %llu sent, %llu dropped, digest %llx\n",
          (unsigned long long) reg->sink->sent,
          (unsigned long long) reg->sink->dropped,
          (unsigned long long) reg->sink->digest);
}
