/* What is done where a call failed, or a wait came to its end, and what is not
 * that.  Each name is a variable; those that begin with "r" are rare. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

long r_malloc, r_calloc, r_file, r_socket, r_map, r_pipe, r_epoll, r_poll,
    r_timed, r_timed_any, r_made;
long f_read, f_accept, f_at_once, f_any_time, f_found, f_tried, f_worked,
    f_first;
void *kept;
pthread_mutex_t lock;
pthread_cond_t cond;
volatile int stop;

__attribute__((noinline)) void *lookup(long key) {
  return key % 3 ? &lock : NULL;
}

void memory(long n) {
  void *p = malloc(n);
  if (!p) {
    r_malloc++;
    return;
  }
  kept = p;
  f_worked++;
}

void zeroed(long n) {
  for (long i = 0; i < n; i++) {
    char *p = calloc(n, 8);
    if (p == NULL) {
      r_calloc++;
      continue;
    }
    p[i] = 1;
    free(p);
  }
}

void files(const char *name) {
  FILE *f = fopen(name, "r");
  if (f != NULL)
    fclose(f);
  else
    r_file++;
}

void sockets(void) {
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  if (fd < 0)
    r_socket++;
  else
    close(fd);
}

void maps(long n) {
  void *p = mmap(NULL, n, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (p == MAP_FAILED)
    r_map++;
  else
    munmap(p, n);
}

void pipes(void) {
  int fds[2];
  if (pipe(fds) != 0)
    r_pipe++;
  else
    close(fds[0]);
}

void made(pthread_t *t, void *(*run)(void *)) {
  int error = pthread_create(t, NULL, run, NULL);
  if (error)
    r_made++;
}

void waits(int fd) {
  struct epoll_event e;
  while (!stop)
    if (epoll_wait(fd, &e, 1, 250) == 0)
      r_epoll++;
}

void polls(struct pollfd *fds, char *to) {
  while (!stop) {
    int ready = poll(fds, 3, 10);
    if (ready <= 0) {
      r_poll = ready - 1;
      continue;
    }
    f_worked += read(fds->fd, to, 10);
  }
}

void timed(const struct timespec *until) {
  while (!stop)
    if (pthread_cond_timedwait(&cond, &lock, until) == ETIMEDOUT)
      r_timed++;
}

void timed_any(const struct timespec *until) {
  while (!stop) {
    int error = pthread_cond_timedwait(&cond, &lock, until);
    if (error != 0)
      r_timed_any++;
  }
}

/* Nothing fails here, or as often as not. */
void reads(int fd, char *to) {
  if (read(fd, to, 100) < 0)
    f_read++;
}

void accepts(int fd) {
  if (accept(fd, NULL, NULL) == -1)
    f_accept++;
}

void at_once(struct pollfd *fds) {
  if (poll(fds, 1, 0) == 0)
    f_at_once++;
}

void any_time(struct pollfd *fds, int time) {
  if (poll(fds, 1, time) == 0)
    f_any_time++;
}

void finds(long key) {
  if (lookup(key) == NULL)
    f_found++;
}

void tries(void) {
  if (pthread_mutex_trylock(&lock) != 0)
    f_tried++;
}

void first(void) {
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  if (fd == 0)
    f_first++;
}

int main(void) { return 0; }
