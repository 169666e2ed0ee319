// The record of a server: its threads count bytes beside what every request looks up.
// about: net_input_bytes
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

struct command {
  const char *name;
  int (*proc)(int fd, char *argument);
};

struct server {
  int port;
  int io_threads;
  int maxclients;
  int verbosity;
  struct command *commands;
  size_t ncommands;
#ifdef FIXED
  _Alignas(64) _Atomic long long net_input_bytes;
  _Atomic long long net_output_bytes;
  char pad[48];
#else
  _Atomic long long net_input_bytes;
  _Atomic long long net_output_bytes;
#endif
#ifdef EDIT
  long long started_at;
#endif
};

struct server server;
extern size_t hash(const char *name);
extern int next_connection(void);

static int process(int fd, char *query) {
  size_t slot = hash(query) % server.ncommands;
  struct command *command = &server.commands[slot];
  if (server.verbosity > 2)
    return -1;
  return command->proc(fd, query + 1);
}

static void *io_thread(void *unused) {
  char buffer[16384];
  for (;;) {
    int fd = next_connection();
    ssize_t n = read(fd, buffer, sizeof buffer);
    if (n <= 0)
      continue;
    atomic_fetch_add_explicit(&server.net_input_bytes, n, memory_order_relaxed);
    int written = process(fd, buffer);
    if (written > 0)
      atomic_fetch_add_explicit(&server.net_output_bytes, written, memory_order_relaxed);
  }
  return unused;
}

int main(int argc, char **argv) {
  pthread_t id;
  server.port = 6379;
  server.io_threads = argc > 1 ? argv[1][0] - '0' : 4;
  server.verbosity = 1;
  for (int i = 0; i < server.io_threads; i++)
    pthread_create(&id, NULL, io_thread, NULL);
  pthread_join(id, NULL);
  return 0;
}
