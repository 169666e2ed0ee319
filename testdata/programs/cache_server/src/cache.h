/* The table cache of a small server: one lock, one list of free tables. */
#pragma once

struct table {
  struct table *next;
  long uses;
};

void cache_put(struct table *free_table);
struct table *cache_take(void);
long cache_idle(void);
