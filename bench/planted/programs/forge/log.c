#include "log.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>

static struct {
	pthread_mutex_t lock;
	unsigned lines;
	unsigned cut;
	char buf[160];
} log_state = { .lock = PTHREAD_MUTEX_INITIALIZER };

void log_line(const char *fmt, ...)
{
	va_list ap;
	int n;

	pthread_mutex_lock(&log_state.lock);
	va_start(ap, fmt);
	n = vsnprintf(log_state.buf, sizeof log_state.buf, fmt, ap);
	va_end(ap);
	if (n >= (int)sizeof log_state.buf)
		log_state.cut++;
	log_state.lines++;
	fprintf(stderr, "%s\n", log_state.buf);
	pthread_mutex_unlock(&log_state.lock);
}

unsigned log_lines(void)
{
	return log_state.lines;
}
