// An instrumented mutex as database servers have it: the system's mutex, and a
// pointer to its statistics, looked at only where instrumentation is built in.
//
// Owns the type and its two operations.  48 bytes on x86-64 with glibc.
#pragma once

#include <pthread.h>
#include <stdint.h>

struct mutex_statistics {
  uint64_t locked;
};

struct instr_mutex_t {
  pthread_mutex_t m_mutex;
  mutex_statistics *m_psi;
};

static_assert(sizeof(void *) != 8 || sizeof(instr_mutex_t) == 48,
              "the layouts of this program are those of a 48 byte lock");

#define INSTR_MUTEX_INITIALIZER {PTHREAD_MUTEX_INITIALIZER, nullptr}

inline void instr_mutex_lock(instr_mutex_t *mutex) {
  pthread_mutex_lock(&mutex->m_mutex);
#ifdef HAVE_INSTRUMENTATION
  if (mutex->m_psi)
    mutex->m_psi->locked++;
#endif
}

inline void instr_mutex_unlock(instr_mutex_t *mutex) {
  pthread_mutex_unlock(&mutex->m_mutex);
}
