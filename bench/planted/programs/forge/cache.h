#ifndef FORGE_CACHE_H
#define FORGE_CACHE_H

#include <stdbool.h>
#include <stdint.h>

/* artifacts by the hash of all that goes into them */
void cache_init(void);
bool cache_lookup(uint32_t key, uint32_t *output);
void cache_store(uint32_t key, uint32_t output);
void cache_expire(uint32_t before);
void cache_set_epoch(uint32_t epoch);
void cache_report(void);
void cache_destroy(void);

#endif
