/* In a loop, loops that only sleep again after a signal, and such that do something else or ask for something else. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <time.h>

volatile int stop;
int naps;
volatile int work;

void again(void) {
  for (;;) {
    struct timespec t = {0, 40000};
    while (nanosleep(&t, &t) && errno == EINTR)
      ;
    work++;
  }
}

void failed(void) {
  for (;;) {
    struct timespec t = {0, 40000};
    while (nanosleep(&t, &t) == -1 && errno == EINTR)
      ;
    work++;
  }
}

void kept(void) {
  for (;;) {
    struct timespec t = {0, 40000};
    int result;
    do
      result = clock_nanosleep(CLOCK_MONOTONIC, 0, &t, &t);
    while (result == EINTR);
    work++;
  }
}

void stopped(void) {
  for (;;) {
    struct timespec t = {0, 40000};
    while (!stop)
      nanosleep(&t, 0);
    work++;
  }
}

void asked(void) {
  for (;;) {
    struct timespec t = {0, 40000};
    while (nanosleep(&t, &t) && errno == EINTR && !stop)
      ;
    work++;
  }
}

void counted(void) {
  for (;;) {
    struct timespec t = {0, 40000};
    while (nanosleep(&t, &t) && errno == EINTR)
      naps++;
    work++;
  }
}

/* In no other loop it says that the thread rests. */
void alone(void) {
  struct timespec t = {0, 40000};
  while (nanosleep(&t, &t) && errno == EINTR)
    ;
}
