/* A server core: locks passed to calls, thread entry points, callbacks in tables, pointers through the stack. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

pthread_mutex_t LOCK_open = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t LOCK_stats;
pthread_rwlock_t LOCK_grant = PTHREAD_RWLOCK_INITIALIZER;
pthread_cond_t COND_refresh = PTHREAD_COND_INITIALIZER;
struct table { struct table *next, **prev; int used; char name[40]; };
struct table *unused_tables;
static struct { long opens, hits, misses; pthread_mutex_t lock; struct table *all; } cache;
static pthread_t workers[4];
volatile int shutdown_requested;
static long long bytes_sent;
static void *worker(void *);
static int compare(const void *, const void *);
static int sorted[32];
static int (*handler)(const void *, const void *) = compare;
typedef void (*hook)(int);
hook hooks[4];

static void link_table(struct table *t) {
  t->next = unused_tables;
  t->prev = &unused_tables;
  if (unused_tables)
    unused_tables->prev = &t->next;
  unused_tables = t;
}
struct table *open_table(const char *name) {
  pthread_mutex_lock(&LOCK_open);
  struct table *t = unused_tables;
  while (t && strcmp(t->name, name))
    t = t->next;
  if (t) {
    *t->prev = t->next;
    cache.hits++;
  } else {
    cache.misses++;
    t = calloc(1, sizeof *t);
  }
  cache.opens++;
  pthread_mutex_unlock(&LOCK_open);
  return t;
}
void close_table(struct table *t) {
  pthread_mutex_lock(&LOCK_open);
  link_table(t);
  pthread_mutex_unlock(&LOCK_open);
  pthread_mutex_lock(&cache.lock);
  cache.all = t;
  pthread_mutex_unlock(&cache.lock);
}
void stats(long n) {
  pthread_mutex_lock(&LOCK_stats);
  bytes_sent += n;
  pthread_mutex_unlock(&LOCK_stats);
}
static void *worker(void *argument) {
  while (!shutdown_requested) {
    pthread_rwlock_rdlock(&LOCK_grant);
    stats((long)(intptr_t)argument);
    pthread_rwlock_unlock(&LOCK_grant);
  }
  return &cache;
}
static void on_event(int n) { bytes_sent -= n; }
static int compare(const void *a, const void *b) { return *(const int *)a - *(const int *)b; }
void start(void) {
  for (size_t i = 0; i < 4; i++)
    pthread_create(&workers[i], NULL, worker, (void *)i);
  hooks[1] = on_event;
  qsort(sorted, 32, sizeof sorted[0], handler);
  qsort(sorted, 16, sizeof sorted[0], compare);
}
void stop(void) {
  shutdown_requested = 1;
  pthread_cond_broadcast(&COND_refresh);
  for (int i = 0; i < 4; i++)
    pthread_join(workers[i], NULL);
  for (int i = 0; i < 4; i++)
    if (hooks[i])
      hooks[i](i);
}
void spilled(int n) {
  long *where = &cache.opens;
  char line[80];
  snprintf(line, sizeof line, "%d", n);
  for (int i = 0; i < n; i++) {
    *where += (long)strlen(line);
    if (puts(line) < 0)
      where = &cache.hits;
  }
}
int main(int argc, char **argv) {
  start();
  struct table *t = open_table(argv[0]);
  close_table(t);
  spilled(argc);
  stop();
  return 0;
}
