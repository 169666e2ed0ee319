/*
 * pzip - parallel block compressor (LZ77 with byte oriented tokens)
 *
 * All functions return PZ_OK or a negative PZ_E* code.
 */
#ifndef PZIP_H
#define PZIP_H

#include <stddef.h>
#include <stdint.h>

#define PZ_MAX_WORKERS 8

enum { PZ_OK = 0, PZ_EMEM = -1, PZ_ETHREAD = -2, PZ_EINVAL = -3, PZ_EOUT = -4 };

typedef struct pz_ctx pz_ctx;

typedef size_t (*pz_read_fn)(void *opaque, uint8_t *buf, size_t max);
typedef int (*pz_write_fn)(void *opaque, const uint8_t *buf, size_t len);

typedef struct pz_options {
    int level;       /* 1..9 */
    int workers;     /* 1..PZ_MAX_WORKERS */
    size_t block;    /* bytes per block */
    const uint8_t *dict;
    size_t dict_len;
} pz_options;

pz_ctx *pz_create(const pz_options *opt, int *err);
void pz_free(pz_ctx *c);
int pz_run(pz_ctx *c, pz_read_fn rd, void *rd_opaque, pz_write_fn wr, void *wr_opaque);
uint64_t pz_bytes_in(const pz_ctx *c);
uint64_t pz_bytes_out(const pz_ctx *c);
void pz_dump_stats(const pz_ctx *c);

#endif
