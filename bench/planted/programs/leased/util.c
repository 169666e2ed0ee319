/*	util.c	*/

#include "leased.h"
#include <stdarg.h>

static pthread_mutex_t	 note_lock = PTHREAD_MUTEX_INITIALIZER;
static u_int		 note_count;
static char		 note_last[80];

void
note(const char *fmt, ...)
{
	va_list ap;

	pthread_mutex_lock(&note_lock);
	va_start(ap, fmt);
	vsnprintf(note_last, sizeof(note_last), fmt, ap);
	va_end(ap);
	fprintf(stderr, "leased: %s\n", note_last);
	note_count++;
	pthread_mutex_unlock(&note_lock);
}

void *
xcalloc(size_t n, size_t size)
{
	void *p = calloc(n, size);

	if (p == NULL) {
		note("out of memory");
		exit(1);
	}
	return p;
}
