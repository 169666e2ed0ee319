// The system variables of the program.
//
// Owns their values and the chain they register in.  Everything here is
// written at start-up and read-only while the workers run.
#include "sys_vars.h"

#include <string.h>

static_assert(sizeof(void *) != 8 || sizeof(Sys_var) == 208,
              "one more variable has to move its followers by 0xe0 bytes");

unsigned long table_cache_size = 64;
unsigned long table_count = 8;
unsigned long scan_rows = 300;
unsigned long scan_every = 4;

static Sys_var *all_sys_vars = nullptr;

Sys_var::Sys_var(const char *name, const char *comment, unsigned long *value,
                 unsigned long minimum, unsigned long maximum,
                 unsigned long default_value)
    : m_next(all_sys_vars), m_option(), m_flags(0), m_show_type(0), m_offset(0),
      m_guard(nullptr), m_on_check(nullptr), m_on_update(nullptr),
      m_deprecation(nullptr), m_binlog_status(nullptr), m_category(nullptr),
      m_since(nullptr), m_updates(0), m_source() {
  m_option.name = name;
  m_option.comment = comment;
  m_option.value = value;
  m_option.minimum = minimum;
  m_option.maximum = maximum;
  m_option.default_value = default_value;
  m_option.step = 1;
  *value = default_value;
  all_sys_vars = this;
}

bool Sys_var::update(unsigned long value) {
  if (value < m_option.minimum || value > m_option.maximum)
    return false;
  if (m_on_check && !m_on_check(this, value))
    return false;
  *m_option.value = value;
  m_updates++;
  return !m_on_update || m_on_update(this);
}

Sys_var *find_sys_var(const char *name) {
  for (Sys_var *var = all_sys_vars; var;
       var = const_cast<Sys_var *>(var->next()))
    if (!strcmp(var->name(), name))
      return var;
  return nullptr;
}

static Sys_var Sys_table_cache_size("table_cache_size",
                                    "Tables that stay open while unused",
                                    &table_cache_size, 1, 4096, 64);

static Sys_var Sys_table_count("table_count", "Tables in the schema",
                               &table_count, 1, 1024, 8);

#ifdef EXTRA_SYSVAR
// The harmless-looking addition: a global as large as one more variable.
char buf[sizeof(Sys_var)];
#endif

static Sys_var Sys_scan_rows("scan_rows", "Rows that a scan visits", &scan_rows,
                             1, 1000000, 300);

static Sys_var Sys_scan_every("scan_every",
                              "One statement in so many scans a table",
                              &scan_every, 1, 1000000, 4);
