// Tables and what their users share of them.
//
// Owns the types, and the cache of shares by name (open_cache).
#pragma once

#include <stdint.h>

struct Table_share;

// One open instance of a table: in use by one statement, or unused and then in
// two lists, its share's and the list of all unused tables, oldest first.
struct Table {
  Table *next;
  Table *prev;
  Table *free_next;
  Table_share *share;
  uint64_t rows_read;
};

// What all instances of a table have in common.  Changed under LOCK_open.
struct Table_share {
  Table_share *hash_next;
  Table *free_tables;
  char name[32];
  uint64_t hash;
  uint64_t references;
};

// The cache itself.  Read by every look-up, changed when a share is created;
// both under LOCK_open.
struct Share_cache {
  Table_share **buckets;
  uint64_t mask;
  uint64_t shares;
};

// How many tables are open, and how many of these are unused.  Changed under
// LOCK_open; alone on its line, since every open and release writes it.
struct alignas(64) Table_counts {
  uint64_t open;
  uint64_t unused;
};

extern Share_cache open_cache;
extern Table_counts table_counts;

// Looks a share up by name and counts a reference; creates it the first time.
// Caller holds LOCK_open.
Table_share *tdc_acquire_share(const char *name);
void tdc_release_share(Table_share *share);

// Makes room for about so many shares; frees everything.
void tdc_start(unsigned long shares);
void tdc_end();
