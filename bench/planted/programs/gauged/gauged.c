// gauged.c - a small service instrumented with gauge: an http thread and a
// query thread, plus the library's samplers and sink.

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gauge.h"

// A request log per thread; the sampler's collectors look at its length.
struct event_ring
{
  _Atomic uint32_t written;
  uint32_t capacity;
  _Atomic uint32_t reaped;
  uint32_t lost;
  uint32_t code[32];
};

// Application state the collectors report on.
static struct app
{
  uint64_t requests;            // http thread
  uint64_t body_bytes;          // http thread
  uint64_t queries;             // query thread
  uint64_t rows;                // query thread
  uint64_t oom_kills;           // never
} app __attribute__ ((aligned (64)));

static struct
{
  uint64_t n;
  uint32_t keep_alive;
  uint32_t max_rows;
  const char *host;
} settings __attribute__ ((aligned (64))) = { 200000, 8, 64, "localhost" };

// Each has a line to itself.
static struct worker_totals
{
  uint64_t steps;
  uint64_t long_steps;
} __attribute__ ((aligned (64))) totals[2];
static _Alignas (64) gg_histogram latency = {
  .bound = { 10, 20, 50, 100, 200, 500, 1000, 5000 },
};
static _Alignas (64) gg_sharded io_bytes = { .name = "io_bytes" };
static _Alignas (64) _Atomic uint64_t in_flight_total;

static gg_registry *registry;
static gg_metric *m_requests, *m_queries, *m_faults;
static struct event_ring *http_ring;

static uint64_t
collect_requests (void *arg)
{
  (void) arg;
  return app.requests;
}

static uint64_t
collect_rows (void *arg)
{
  (void) arg;
  return app.rows;
}

static uint64_t
collect_ring (void *arg)
{
  struct event_ring *r = arg;
  uint32_t w = atomic_load_explicit (&r->written, memory_order_acquire);
  uint32_t n = w - r->reaped;

  if (n > r->capacity)
    {
      r->lost += n - r->capacity;
      n = r->capacity;
    }
  for (uint32_t i = 0; i < n; i++)
    if (r->code[(w - n + i) & 31] == 0)
      return 0;
  atomic_store_explicit (&r->reaped, w, memory_order_release);
  return w;
}

static uint64_t
collect_const (void *arg)
{
  return (uintptr_t) arg;
}

static uint32_t
next_random (uint32_t *state)
{
  *state = *state * 1664525u + 1013904223u;
  return *state >> 8;
}

static int
http_main (void *arg)
{
  struct worker_totals *tot = arg;
  uint32_t rng = 7;

  for (uint64_t i = 0; i < settings.n; i++)
    {
      uint32_t len = next_random (&rng) & 0x3ff;

      app.requests++;
      app.body_bytes += len;
      atomic_fetch_add (&in_flight_total, 1);
      gg_add (m_requests, 1);
      gg_sharded_add (registry, &io_bytes, len);
      gg_observe (&latency, len & 0x3f);
      gg_window_add (len);
      http_ring->code[http_ring->written & 31] = 200 + (len & 3);
      atomic_fetch_add (&http_ring->written, 1);
      tot->steps++;
      if (len == 0 && gg_log_level () > 1)
        fprintf (stderr, "%s: empty request at %llu\n", settings.host,
                 (unsigned long long) gg_now ());
      if (gg_log_level () > 2)
        fprintf (stderr, "request %u\n", len);
      if (i % settings.keep_alive == 0)
        thrd_yield ();
    }
  return 0;
}

static int
query_main (void *arg)
{
  struct worker_totals *tot = arg;
  uint32_t rng = 99;

  for (uint64_t i = 0; i < settings.n; i++)
    {
      uint32_t rows = next_random (&rng) % settings.max_rows;
      uint64_t cost = 100;

      for (uint32_t r = 0; r < rows; r++)
        cost += next_random (&rng) & 0xf;
      app.queries++;
      app.rows += rows;
      atomic_fetch_add (&in_flight_total, 1);
      gg_add (m_queries, 1);
      gg_sharded_add (registry, &io_bytes, rows * 16);
      gg_observe (&latency, cost);
      tot->steps++;
      if (rows > settings.max_rows)
        {
          gg_add (m_faults, 1);
          app.oom_kills++;
        }
      if (gg_log_level () > 2)
        fprintf (stderr, "query %u\n", rows);
      if (i % settings.keep_alive == 0)
        thrd_yield ();
    }
  return 0;
}

static int
setup (uint32_t samplers)
{
  registry = gg_registry_new (samplers);
  http_ring = aligned_alloc (64, 192);
  if (!registry || !http_ring)
    return -1;
  memset (http_ring, 0, 192);
  http_ring->capacity = 32;
  m_requests = gg_metric_new (registry, "http.requests");
  m_queries = gg_metric_new (registry, "db.queries");
  m_faults = gg_metric_new (registry, "faults");
  if (gg_collector_add (collect_requests, NULL) != GG_OK
      || gg_collector_add (collect_rows, NULL) != GG_OK
      || gg_collector_add (collect_ring, http_ring) != GG_OK
      || gg_collector_add (collect_const, (void *) 17) != GG_OK)
    return -1;
  return 0;
}

int
main (int argc, char **argv)
{
  uint32_t samplers = 2;
  thrd_t http, query;
  int c;

  while ((c = getopt (argc, argv, "n:k:s:v")) != -1)
    switch (c)
      {
      case 'n':
        settings.n = strtoull (optarg, NULL, 0);
        break;
      case 'k':
        settings.keep_alive = strtoul (optarg, NULL, 0);
        break;
      case 's':
        samplers = strtoul (optarg, NULL, 0);
        break;
      case 'v':
        gg_set_log_level (gg_log_level () + 1);
        break;
      default:
        fprintf (stderr, "usage: gauged [-v] [-n steps] [-k keep-alive] [-s samplers]\n");
        return 2;
      }
  if (samplers < 1 || samplers > 4 || settings.keep_alive == 0 || setup (samplers) != 0)
    {
      fprintf (stderr, "gauged: setup failed\n");
      return 1;
    }
  if (gg_start (registry) != GG_OK
      || thrd_create (&http, http_main, &totals[0]) != thrd_success
      || thrd_create (&query, query_main, &totals[1]) != thrd_success)
    {
      fprintf (stderr, "gauged: no threads\n");
      return 1;
    }
  thrd_join (http, NULL);
  thrd_join (query, NULL);
  gg_stop (registry);
  gg_dump (registry);
  printf ("app: %llu requests, %llu queries, %llu rows, io %llu, steps %llu\n",
          (unsigned long long) app.requests, (unsigned long long) app.queries,
          (unsigned long long) app.rows,
          (unsigned long long) gg_sharded_sum (&io_bytes),
          (unsigned long long) (totals[0].steps + totals[1].steps));
  for (int i = 0; i < GG_BUCKETS; i++)
    printf ("%u ", latency.bucket[i]);
  printf ("in flight %llu\n", (unsigned long long) in_flight_total);
  free (http_ring);
  gg_registry_free (registry);
  return 0;
}
