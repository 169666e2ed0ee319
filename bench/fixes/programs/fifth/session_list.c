// Sessions of a daemon: looked for without a lock in a list, beside the mutex of the log, which every request takes.
// about: log_lock sessions
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct session {
  struct session *next;
  uint64_t key;
  uint64_t last_used;
};

#ifdef EDIT
int verbose = 1;
#endif
static struct {
#ifdef FIXED
  struct session *sessions __attribute__((aligned(64)));
  pthread_mutex_t log_lock __attribute__((aligned(64)));
  char log_buffer[4096];
  size_t log_used;
#else
  struct session *sessions;
  pthread_mutex_t log_lock;
  size_t log_used;
  char log_buffer[4096];
#endif
} state = {.log_lock = PTHREAD_MUTEX_INITIALIZER};

static void log_line(const char *text) {
  size_t length = strlen(text);
  pthread_mutex_lock(&state.log_lock);
  if (state.log_used + length > sizeof state.log_buffer) {
    if (write(2, state.log_buffer, state.log_used) < 0)
      perror("log");
    state.log_used = 0;
  }
  memcpy(state.log_buffer + state.log_used, text, length);
  state.log_used += length;
  pthread_mutex_unlock(&state.log_lock);
}

static struct session *session_find(uint64_t key) {
  for (struct session *s = __atomic_load_n(&state.sessions, __ATOMIC_ACQUIRE); s; s = s->next)
    if (s->key == key)
      return s;
  return NULL;
}

void session_add(uint64_t key) {
  struct session *s = calloc(1, sizeof *s);
  s->key = key;
  s->next = __atomic_load_n(&state.sessions, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(&state.sessions, &s->next, s, 0, __ATOMIC_RELEASE, __ATOMIC_RELAXED))
    ;
}

static void *serve(void *arg) {
  int fd = *(int *)arg;
  uint64_t key;
  char text[64];
  while (read(fd, &key, sizeof key) == sizeof key) {
    struct session *s = session_find(key);
    snprintf(text, sizeof text, "%llx %s\n", (unsigned long long)key, s ? "hit" : "miss");
    log_line(text);
  }
  return NULL;
}

int main(int argc, char **argv) {
  int threads = argc > 1 ? atoi(argv[1]) : 4;
  pthread_t *ids = calloc(threads, sizeof *ids);
  int *fds = calloc(threads, sizeof *fds);
  for (uint64_t key = 0; key < 64; key++)
    session_add(key * 977);
  for (int i = 0; i < threads; i++) {
    fds[i] = dup(0);
    pthread_create(&ids[i], NULL, serve, &fds[i]);
  }
  for (int i = 0; i < threads; i++)
    pthread_join(ids[i], NULL);
  return 0;
}
