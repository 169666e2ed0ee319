/* In the style of a block layer. */
#include <stdarg.h>

#include "kernel.h"

int console_loglevel = 6;

static spinlock_t logbuf_lock;
static char log_buf[4096];
static u32 log_end;
static u32 log_dropped;

void printk(int level, const char *fmt, ...)
{
	char text[128];
	va_list args;
	int len;

	va_start(args, fmt);
	len = vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	spin_lock(&logbuf_lock);
	if (log_end + len >= sizeof(log_buf)) {
		log_end = 0;
		log_dropped++;
	}
	memcpy(log_buf + log_end, text, len);
	log_end += len;
	spin_unlock(&logbuf_lock);
	if (level <= console_loglevel)
		fputs(text, stdout);
}
