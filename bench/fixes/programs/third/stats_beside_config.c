// Settings that every request reads beside counters that every request changes, all static in one file.
// about: requests failures
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

static bool use_cache;
static int max_items;
#ifdef FIXED
static struct {
  atomic_ulong requests, failures;
} __attribute__((aligned(64))) counted;
#define requests counted.requests
#define failures counted.failures
#else
static atomic_ulong requests, failures;
#endif
#ifdef EDIT
static const char *motd = "";
const char *get_motd(void) { return motd; }
#endif

extern int lookup(int connection, int items);
extern int accept_one(void *arg);

void configure(bool cache, int items) {
  use_cache = cache;
  max_items = items;
}

static void *serve(void *arg) {
  int connection;
  while ((connection = accept_one(arg)) >= 0) {
    atomic_fetch_add(&requests, 1);
    if (!use_cache || lookup(connection, max_items) < 0)
      atomic_fetch_add(&failures, 1);
  }
  return NULL;
}

void *poll_settings(void *arg) {
  int seen = 0;
  while (use_cache)
    seen += max_items;
  *(int *)arg = seen;
  return NULL;
}

int start(pthread_t *threads, int count, void *arg) {
  for (int i = 0; i < count; i++)
    if (pthread_create(&threads[i], NULL, i % 2 ? serve : poll_settings, arg))
      return -1;
  return 0;
}
