/* Loops that only sleep again after a signal, and such that do something else or ask for something else. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <time.h>

volatile int stop;
int naps;

void again(void) {
  struct timespec t = {0, 40000};
  while (nanosleep(&t, &t) && errno == EINTR)
    ;
}

void failed(void) {
  struct timespec t = {0, 40000};
  while (nanosleep(&t, &t) == -1 && errno == EINTR)
    ;
}

void kept(void) {
  struct timespec t = {0, 40000};
  int result;
  do
    result = clock_nanosleep(CLOCK_MONOTONIC, 0, &t, &t);
  while (result == EINTR);
}

void stopped(void) {
  struct timespec t = {0, 40000};
  while (!stop)
    nanosleep(&t, 0);
}

void asked(void) {
  struct timespec t = {0, 40000};
  while (nanosleep(&t, &t) && errno == EINTR && !stop)
    ;
}

void counted(void) {
  struct timespec t = {0, 40000};
  while (nanosleep(&t, &t) && errno == EINTR)
    naps++;
}
