#ifndef FORGE_UTIL_H
#define FORGE_UTIL_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

void *xmalloc(size_t n);
void *xcalloc(size_t n, size_t size);
void *xrealloc(void *p, size_t n);
char *xstrdup(const char *s);
void die(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));

uint32_t rng_step(uint32_t *state);
uint64_t now_us(void);
void nap_us(unsigned us);

/* FNV-1a over 32-bit words */
static inline uint32_t mix32(uint32_t h, uint32_t v)
{
	h ^= v;
	h *= 16777619u;
	return h ^ (h >> 15);
}

#endif
