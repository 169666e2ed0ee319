// When counting begins and ends, and which thread is which: threads get a
// number as they start, and files beside that of the counts are commands.
#define _GNU_SOURCE
#include "counter.h"

#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { POLL_US = 20000 };

static uintptr_t base, start, end; // of the program's code
static pid_t counted_process;
static char out_path[4096]; // a copy: programs write over their environment
static bool steady;

int __real_pthread_create(pthread_t *, const pthread_attr_t *,
                          void *(*)(void *), void *);

static void keep(void) {
  char name[sizeof out_path + 8];
  if (!*out_path)
    return;
  snprintf(name, sizeof name, "%s.part", out_path);
  counter_dump(name);
  rename(name, out_path);
}

// Commands are files beside that of the counts, which are removed when done.
static void *control(void *unused) {
  char zeroing[sizeof out_path + 8], dumping[sizeof out_path + 8];
  counter_busy = true;
  snprintf(zeroing, sizeof zeroing, "%s.zero", out_path);
  snprintf(dumping, sizeof dumping, "%s.dump", out_path);
  for (;; usleep(POLL_US)) {
    if (!faccessat(AT_FDCWD, zeroing, F_OK, 0)) {
      counter_zero();
      unlink(zeroing);
    }
    if (!faccessat(AT_FDCWD, dumping, F_OK, 0)) {
      keep();
      unlink(dumping);
    }
  }
  return unused;
}

typedef struct {
  void *(*entry)(void *);
  void *argument;
  int number;
} Start;

static void *started(void *given) {
  Start start = *(Start *)given;
  __libc_free(given);
  counter_number = start.number;
  return start.entry(start.argument);
}

int __wrap_pthread_create(pthread_t *into, const pthread_attr_t *attributes,
                          void *(*entry)(void *), void *argument) {
  Start *start = __libc_malloc(sizeof *start);
  *start = (Start){entry, argument, (int)counter_new_number()};
  if (steady)
    counter_zero();
  return __real_pthread_create(into, attributes, started, start);
}

static void in_child(void) { counter_on = false; }

static int first_object(struct dl_phdr_info *info, size_t size, void *unused) {
  (void)size, (void)unused;
  base = info->dlpi_addr;
  for (int at = 0; at < info->dlpi_phnum; at++) {
    const ElfW(Phdr) *part = &info->dlpi_phdr[at];
    if (part->p_type == PT_LOAD && part->p_flags & PF_X) {
      start = base + part->p_vaddr;
      end = start + part->p_memsz;
    }
  }
  return 1; // the program comes first
}

static void finished(void) {
  if (counter_on && getpid() == counted_process)
    keep();
}

__attribute__((constructor(101))) static void begin(void) {
  const char *given = getenv("COUNTER_OUT");
  snprintf(out_path, sizeof out_path, "%s", given ? given : "");
  steady = getenv("COUNTER_STEADY") != NULL;
  counted_process = getpid();
  dl_iterate_phdr(first_object, NULL);
  counter_begin(base, start, end);
  pthread_atfork(NULL, NULL, in_child);
  atexit(finished);
  pthread_t controller;
  if (*out_path && !__real_pthread_create(&controller, NULL, control, NULL))
    pthread_detach(controller);
}
