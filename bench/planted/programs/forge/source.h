#ifndef FORGE_SOURCE_H
#define FORGE_SOURCE_H

#include <stdatomic.h>
#include <stdint.h>

/* A source file as the build sees it; stands for stat() and a mapping. */
struct source {
	uint32_t mtime;
	uint32_t words;
	uint32_t digest;
	_Atomic unsigned readers;	/* mappings that are open now */
	const uint32_t *text;
};

void sources_init(unsigned n, unsigned seed);
void sources_touch(unsigned round);
void sources_free(void);
unsigned source_count(void);

const uint32_t *source_open(unsigned id, uint32_t *words);
void source_close(unsigned id, uint32_t digest);
uint32_t source_mtime(unsigned id);

#endif
