#ifndef FORGE_LOG_H
#define FORGE_LOG_H

void log_line(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
unsigned log_lines(void);

#endif
