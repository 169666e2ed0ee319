// System variables: static objects that register themselves when the program
// starts and are only looked up afterwards.
//
// Owns the class; the variables themselves stand in sys_vars.cc.
#pragma once

#include "mutex.h"

#include <stddef.h>

// 208 bytes, as in the server this program is modelled on: what such an object
// weighs is what adding one moves everything after it by.
class Sys_var {
public:
  Sys_var(const char *name, const char *comment, unsigned long *value,
          unsigned long minimum, unsigned long maximum,
          unsigned long default_value);

  // Sets the value from a command line argument; false when out of range.
  virtual bool update(unsigned long value);

  const char *name() const { return m_option.name; }
  const Sys_var *next() const { return m_next; }

protected: // for the kinds of variables that derive from this one
  struct Option {
    const char *name;
    const char *comment;
    unsigned long *value;
    unsigned long *session_value;
    const char *const *enumeration;
    unsigned long type;
    unsigned long argument;
    unsigned long default_value;
    unsigned long minimum;
    unsigned long maximum;
    unsigned long step;
    void *application;
  };

  Sys_var *m_next;
  Option m_option;
  int m_flags;
  int m_show_type;
  size_t m_offset;
  instr_mutex_t *m_guard;
  bool (*m_on_check)(Sys_var *, unsigned long);
  bool (*m_on_update)(Sys_var *);
  const char *m_deprecation;
  const char *m_binlog_status;
  const char *m_category;
  const char *m_since;
  unsigned long m_updates;
  unsigned long m_source[2];
};

Sys_var *find_sys_var(const char *name);

extern unsigned long table_cache_size;
extern unsigned long table_count;
extern unsigned long scan_rows;
extern unsigned long scan_every;
