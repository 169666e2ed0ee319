/* Parameters and notes. */
#include "phys.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct params params = {
	.dt = 0.01f,
	.gravity = -0.2f,
	.damping = 0.999f,
	.cutoff = 9.0f,
	.probe_every = 4,
};

int log_level = 1;

static struct {
	mtx_t lock;
	size_t used;
	char text[4096];
} notes;
static once_flag notes_once = ONCE_FLAG_INIT;

static void notes_init(void)
{
	mtx_init(&notes.lock, mtx_plain);
}

void note(int level, const char *fmt, ...)
{
	char line[128];
	va_list ap;

	if (level > log_level)
		return;
	va_start(ap, fmt);
	int n = vsnprintf(line, sizeof line, fmt, ap);
	va_end(ap);
	call_once(&notes_once, notes_init);
	mtx_lock(&notes.lock);
	if (n > 0 && (size_t)n < sizeof line && notes.used + (size_t)n + 2 < sizeof notes.text) {
		memcpy(notes.text + notes.used, line, (size_t)n);
		notes.used += (size_t)n;
		notes.text[notes.used++] = '\n';
	}
	mtx_unlock(&notes.lock);
}

void notes_print(void)
{
	fwrite(notes.text, 1, notes.used, stderr);
	notes.used = 0;
}

static int set_param(const char *name, size_t len, const char *value)
{
	char *end;
	float v = strtof(value, &end);

	if (*end || end == value)
		return -1;
	if (len == 2 && !memcmp(name, "dt", 2) && v > 0 && v < 1)
		params.dt = v;
	else if (len == 7 && !memcmp(name, "gravity", 7))
		params.gravity = v;
	else if (len == 7 && !memcmp(name, "damping", 7) && v > 0 && v <= 1)
		params.damping = v;
	else if (len == 6 && !memcmp(name, "cutoff", 6) && v > 0)
		params.cutoff = v;
	else if (len == 6 && !memcmp(name, "report", 6))
		params.report = v != 0;
	else
		return -1;
	return 0;
}

int params_read(int argc, char **argv, long *rounds)
{
	char *end;

	*rounds = 50;
	if (argc > 1) {
		*rounds = strtol(argv[1], &end, 10);
		if (*end || *rounds < 1) {
			fprintf(stderr, "usage: %s ROUNDS [NAME=VALUE]...\n", argv[0]);
			return -1;
		}
	}
	for (int i = 2; i < argc; i++) {
		const char *eq = strchr(argv[i], '=');
		if (!eq || set_param(argv[i], (size_t)(eq - argv[i]), eq + 1) < 0) {
			fprintf(stderr, "bad parameter: %s\n", argv[i]);
			return -1;
		}
	}
	return 0;
}
