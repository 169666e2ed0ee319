// The cache of open tables.
//
// Owns LOCK_open, which guards the shares and the list of unused tables, and
// that list's head.  gcc -O2 emits variables in reverse order of definition:
// in memory the lock comes first and the list head follows it directly.
#include "table_cache.h"

#include "sys_vars.h"

#include <stdlib.h>

// Aligning the types rather than the variables also rounds their sizes up, so
// that nothing can move into the rest of a line.
#ifdef PADDED
#define OWN_LINE alignas(64)
#else
#define OWN_LINE
#endif

struct OWN_LINE Table_list {
  Table *first;
};

struct OWN_LINE Open_mutex : instr_mutex_t {};

Table_list unused_tables;
Open_mutex LOCK_open = {INSTR_MUTEX_INITIALIZER};

bool tc_has_unused() {
  return __atomic_load_n(&unused_tables.first, __ATOMIC_RELAXED) != nullptr;
}

// The head is also read without the lock, so it is written in one piece.
static void set_first(Table *table) {
  __atomic_store_n(&unused_tables.first, table, __ATOMIC_RELAXED);
}

// Appends to the circular list: the first table is the one unused the longest.
static void link_unused(Table *table) {
  Table *first = unused_tables.first;
  if (first) {
    table->next = first;
    table->prev = first->prev;
    first->prev->next = table;
    first->prev = table;
  } else {
    table->next = table->prev = table;
    set_first(table);
  }
  table->free_next = table->share->free_tables;
  table->share->free_tables = table;
  table_counts.unused++;
}

static void unlink_unused(Table *table) {
  if (table->next == table) {
    set_first(nullptr);
  } else {
    table->next->prev = table->prev;
    table->prev->next = table->next;
    if (unused_tables.first == table)
      set_first(table->next);
  }
  for (Table **link = &table->share->free_tables; *link;
       link = &(*link)->free_next)
    if (*link == table) {
      *link = table->free_next;
      break;
    }
  table_counts.unused--;
}

static Table *new_table(Table_share *share) {
  auto *table = static_cast<Table *>(calloc(1, sizeof(Table)));
  if (!table)
    abort();
  table->share = share;
  table_counts.open++;
  return table;
}

Table *tc_acquire_table(const char *name) {
  instr_mutex_lock(&LOCK_open);
  Table_share *share = tdc_acquire_share(name);
  Table *table = share->free_tables;
  if (table)
    unlink_unused(table);
  else
    table = new_table(share);
  instr_mutex_unlock(&LOCK_open);
  return table;
}

void tc_release_table(Table *table) {
  Table *evicted = nullptr;
  instr_mutex_lock(&LOCK_open);
  tdc_release_share(table->share);
  link_unused(table);
  if (table_counts.unused > table_cache_size) {
    evicted = unused_tables.first;
    unlink_unused(evicted);
    table_counts.open--;
  }
  instr_mutex_unlock(&LOCK_open);
  free(evicted);
}

Table_share *tc_acquire_share(const char *name) {
  instr_mutex_lock(&LOCK_open);
  Table_share *share = tdc_acquire_share(name);
  instr_mutex_unlock(&LOCK_open);
  return share;
}

void tc_release_share(Table_share *share) {
  instr_mutex_lock(&LOCK_open);
  tdc_release_share(share);
  instr_mutex_unlock(&LOCK_open);
}

void tc_start(unsigned long tables) { tdc_start(tables); }

void tc_end() {
  while (Table *table = unused_tables.first) {
    unlink_unused(table);
    free(table);
  }
  tdc_end();
}
