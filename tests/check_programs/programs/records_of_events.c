// Several event loops, each of which works on the records that lie beside its events, elements of one array.
// expect: thread-elements-meet medium conns
#include <pthread.h>
#include <sys/epoll.h>
#include <unistd.h>

struct conn {
  int fd;
  unsigned have;
  unsigned long in, out;
};

static int polled[4];
static struct conn conns[1024];

static void add(int loop, int fd) {
  struct conn *c = &conns[fd];
  c->fd = fd;
  struct epoll_event ev = {.events = EPOLLIN, .data.ptr = c};
  epoll_ctl(polled[loop], EPOLL_CTL_ADD, fd, &ev);
}

static void serve(struct conn *c) {
  char text[256];
  ssize_t n = read(c->fd, text, sizeof text);
  if (n <= 0)
    return;
  c->in += (unsigned long)n;
  c->have++;
  n = write(c->fd, text, (unsigned long)n);
  if (n > 0)
    c->out += (unsigned long)n;
}

static void *loop(void *number) {
  struct epoll_event found[64];
  for (;;) {
    int n = epoll_wait(polled[(long)number], found, 64, -1);
    for (int i = 0; i < n; i++)
      serve(found[i].data.ptr);
  }
  return 0;
}

int main(void) {
  pthread_t threads[4];
  for (long i = 0; i < 4; i++) {
    polled[i] = epoll_create1(0);
    pthread_create(&threads[i], 0, loop, (void *)i);
  }
  for (int fd = 3; fd < 1000; fd++)
    add(fd % 4, fd);
  for (int i = 0; i < 4; i++)
    pthread_join(threads[i], 0);
}
