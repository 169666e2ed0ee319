/* mkit: small blocks by size class for threads that register, with counts. */
#ifndef MKIT_H
#define MKIT_H

#include <stddef.h>
#include <stdint.h>

#define MK_CLASSES 4
#define MK_MAX_THREADS 16

enum mk_metric { MKM_ALLOC, MKM_FREE, MKM_REMOTE, MKM_LOOKUP, MKM_EPOCH, MKM_COUNT };

struct mk_options {
    unsigned int sample_shift;
    unsigned int poison;
    size_t arena_blocks;
};

void mk_init(const struct mk_options *opts);
void mk_fini(void);

/* Each thread that allocates registers first. */
int mk_thread_register(const char *name);
void mk_thread_unregister(void);

void *mk_alloc(size_t size);
void mk_free(void *p);

/* Names of live blocks: a table in shards. */
void mk_tag_set(uint64_t key, uint32_t tag);
uint32_t mk_tag_get(uint64_t key);

/* The collector's side. */
void mk_collect(void);
uint64_t mk_epoch(void);

void mk_metric_print(void);
uint64_t mk_live_bytes(void);

#endif
