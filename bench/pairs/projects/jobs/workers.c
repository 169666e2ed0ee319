#include "jobs.h"
#include <stdlib.h>

static pthread_t threads[32];
static int running;
static long rounds_each;

static void *work(void *unused) {
  (void)unused;
  for (long i = 0; i < rounds_each; ++i) {
    struct job *job = take_job();
    if (!job)
      continue;
    unsigned result = run_job(job);
    count_job(result);
    push_job(job);
  }
  return NULL;
}

void start_workers(int how_many, long rounds) {
  rounds_each = rounds;
  for (int i = 0; i < 64; ++i) {
    struct job *job = calloc(1, sizeof *job);
    job->kind = i % 6;
    job->size = (unsigned)i * 37;
    push_job(job);
  }
  for (running = 0; running < how_many && running < 32; ++running)
    pthread_create(&threads[running], NULL, work, NULL);
}

void join_workers(void) {
  for (int i = 0; i < running; ++i)
    pthread_join(threads[i], NULL);
}
