// sink.c - bounded queue of samples between samplers and the sender.

#include <stdlib.h>
#include <string.h>

#include "gauge.h"

gg_sink *
gg_sink_new (void)
{
  gg_sink *s = aligned_alloc (64, (sizeof *s + 63) & ~(size_t) 63);

  if (s == NULL)
    return NULL;
  memset (s, 0, sizeof *s);
  if (mtx_init (&s->lock, mtx_plain) != thrd_success)
    {
      free (s);
      return NULL;
    }
  return s;
}

bool
gg_sink_push (gg_sink *s, gg_sample v)
{
  bool ok = true;

  mtx_lock (&s->lock);
  if (s->tail - s->head == GG_SINK_DEPTH)
    {
      s->dropped++;
      ok = false;
    }
  else
    s->queue[s->tail++ % GG_SINK_DEPTH] = v;
  mtx_unlock (&s->lock);
  return ok;
}

// Sends one sample, if there is one.
bool
gg_sink_send (gg_sink *s)
{
  gg_sample v;
  char line[24];
  size_t n = 0;

  mtx_lock (&s->lock);
  if (s->tail == s->head)
    {
      mtx_unlock (&s->lock);
      return false;
    }
  v = s->queue[s->head++ % GG_SINK_DEPTH];
  mtx_unlock (&s->lock);
  while (n < sizeof line)
    {
      line[n++] = '0' + v.value % 10;
      v.value /= 10;
      s->digest = s->digest * 31 + line[n - 1];
    }
  s->sent++;
  return true;
}
