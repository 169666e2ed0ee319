/* chatrelay ROUNDS */
#include "relay.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static struct server server;

int main(int argc, char **argv)
{
	char *end = NULL;
	long rounds = argc > 1 ? strtol(argv[1], &end, 10) : 200;

	if (argc > 2 || (end && *end) || rounds < 1) {
		fprintf(stderr, "usage: %s ROUNDS\n", argv[0]);
		return 2;
	}
	int rc = server_run(&server, rounds);
	log_close();
	return rc < 0;
}

unsigned log_mask = L_ERR | L_WARN;

static pthread_mutex_t log_mu = PTHREAD_MUTEX_INITIALIZER;
static unsigned log_count;
static char *log_lines[128];

void log_line(unsigned bit, const char *fmt, ...)
{
	va_list ap;
	char *text = malloc(160);

	if (!text)
		return;
	va_start(ap, fmt);
	vsnprintf(text, 160, fmt, ap);
	va_end(ap);
	pthread_mutex_lock(&log_mu);
	if ((bit & log_mask) && log_count < sizeof log_lines / sizeof *log_lines) {
		log_lines[log_count++] = text;
		text = NULL;
	}
	pthread_mutex_unlock(&log_mu);
	free(text);
}

void log_close(void)
{
	for (unsigned i = 0; i < log_count; i++) {
		fprintf(stderr, "chatrelay: %s\n", log_lines[i]);
		free(log_lines[i]);
	}
	log_count = 0;
}
