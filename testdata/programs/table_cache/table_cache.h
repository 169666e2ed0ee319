// The cache of open tables: open, release, purge.
//
// Owns nothing: see table_cache.cc.
#pragma once

#include "mutex.h"
#include "table_share.h"

// Opens a table: an unused instance where there is one, else a new one.
Table *tc_acquire_table(const char *name);

// Ends the use of a table; it stays open in the list of unused tables.
void tc_release_table(Table *table);

// Looks a table's share up without opening the table; the caller releases it.
Table_share *tc_acquire_share(const char *name);
void tc_release_share(Table_share *share);

// Whether a statement would find an unused table to take.  Looks without the
// lock: the answer may be old by the time it is used.
bool tc_has_unused();

void tc_start(unsigned long tables);
void tc_end();
