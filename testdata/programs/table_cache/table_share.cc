// The cache of table shares: a hash by name.
//
// Owns open_cache and table_counts.  Everything here happens under LOCK_open.
#include "table_share.h"

#include <stdlib.h>
#include <string.h>

Share_cache open_cache;
Table_counts table_counts;

static uint64_t hash_name(const char *name) {
  uint64_t hash = 14695981039346656037u; // FNV-1a
  for (; *name; name++)
    hash = (hash ^ static_cast<unsigned char>(*name)) * 1099511628211u;
  return hash;
}

Table_share *tdc_acquire_share(const char *name) {
  uint64_t hash = hash_name(name);
  Table_share **bucket = &open_cache.buckets[hash & open_cache.mask];
  for (Table_share *share = *bucket; share; share = share->hash_next)
    if (share->hash == hash && !strcmp(share->name, name)) {
      share->references++;
      return share;
    }

  auto *share = static_cast<Table_share *>(calloc(1, sizeof(Table_share)));
  if (!share)
    abort();
  strncpy(share->name, name, sizeof(share->name) - 1);
  share->hash = hash;
  share->references = 1;
  share->hash_next = *bucket;
  *bucket = share;
  open_cache.shares++;
  return share;
}

void tdc_release_share(Table_share *share) { share->references--; }

void tdc_start(unsigned long shares) {
  uint64_t size = 1;
  while (size < shares)
    size *= 2;
  open_cache.mask = size - 1;
  open_cache.buckets =
      static_cast<Table_share **>(calloc(size, sizeof(Table_share *)));
  if (!open_cache.buckets)
    abort();
}

void tdc_end() {
  for (uint64_t i = 0; i <= open_cache.mask; i++)
    while (Table_share *share = open_cache.buckets[i]) {
      open_cache.buckets[i] = share->hash_next;
      free(share);
    }
  free(open_cache.buckets);
  open_cache.buckets = nullptr;
  open_cache.shares = 0;
}
