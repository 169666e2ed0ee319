#include "jobs.h"
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

static char line[160];
static long lines_written;
pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;

void say(const char *format, ...) {
  va_list rest;
  va_start(rest, format);
  pthread_mutex_lock(&log_lock);
  int used = snprintf(line, sizeof line, "[%ld] ", (long)time(NULL));
  if (used > 0 && (size_t)used < sizeof line)
    vsnprintf(line + used, sizeof line - used, format, rest);
  fprintf(stderr, "%s\n", line);
  ++lines_written;
  pthread_mutex_unlock(&log_lock);
  va_end(rest);
}
