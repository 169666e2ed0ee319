#include "jobs.h"

pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
char queue_name[64];
struct queue queue;
long queue_peak;

void push_job(struct job *job) {
  pthread_mutex_lock(&queue_lock);
  job->next = NULL;
  if (queue.tail)
    queue.tail->next = job;
  else
    queue.head = job;
  queue.tail = job;
  if (++queue.length > queue_peak)
    queue_peak = queue.length;
  pthread_mutex_unlock(&queue_lock);
}

struct job *take_job(void) {
  pthread_mutex_lock(&queue_lock);
  struct job *job = queue.head;
  if (job) {
    queue.head = job->next;
    if (!queue.head)
      queue.tail = NULL;
    --queue.length;
  }
  pthread_mutex_unlock(&queue_lock);
  return job;
}
