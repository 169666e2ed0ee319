// What the parts of the counting run-time know of each other.  Names have a
// prefix: they are linked into programs that have names of their own.
#ifndef COUNTER_H
#define COUNTER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum counter_kind { READ, WRITE, UPDATE };

enum { COUNTER_THREADS = 24 }; // more share the last number

// counter.c: accesses and transfers.
extern atomic_bool counter_on;
extern __thread int counter_number; // of this thread, -1: none yet
extern __thread bool counter_busy;  // in the run-time itself
unsigned counter_new_number(void);
void counter_access(void *caller, const volatile void *at, size_t size,
                    enum counter_kind kind);
// A new object of the heap, which is handed on.
void *counter_made(void *at, size_t size, void *caller);
void counter_zero(void);
void counter_dump(const char *path);
void counter_begin(uintptr_t base, uintptr_t start, uintptr_t end);

// Functions behind those of the same name that instrumented code calls.
void *__real_memcpy(void *, const void *, size_t);
void *__real_memmove(void *, const void *, size_t);
void *__real_memset(void *, int, size_t);
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
void __libc_free(void *);

#endif
