// Counts every access of an instrumented program by thread, and the transfers
// of lines that follow: the run-time behind -fsanitize=thread, which is only
// used for its calls before each access (calls.c), and not for its detection
// of races.  When it begins and ends is run.c's.
//
// A line of 64 bytes that two threads use has, for each thread, the bytes that
// others wrote since it last had the line.  An access where there are such
// bytes is a transfer; it was needed if the thread then uses one of them before
// it loses the line again, else separate lines would have spared it.  Bytes of
// a new object of the heap belong to nobody.
#define _GNU_SOURCE
#include "counter.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

enum {
  LINE = 64,
  SEEN = 8,              // places in the code of one stay of a line in a core
  CODE_BYTES = 64 << 20, // of the program that is counted
  SITES = 1 << 17,
  PAIRS = 1 << 18,
  OBJECTS = 1 << 24,
  LEAF_BITS = 22, // addresses below one entry of the map
  ADDRESS_BITS = 47,
};

typedef uint64_t Bytes; // one bit a byte of a line

typedef struct {
  uint32_t site;
  uint8_t byte;
} Touch;

// One thread and one line.
typedef struct {
  Bytes stale; // written by others since this thread had the line
  Bytes lost;  // what was stale when it came
  Bytes used;  // since then
  Touch uses[SEEN], from[SEEN];
  uint8_t uses_count, from_count;
} Stay;

typedef struct Detail {
  Stay stays[COUNTER_THREADS];
  uint32_t writer[LINE];
  struct Detail *next;
} Detail;

typedef struct {
  Bytes written; // by the owner, while there is no second thread
  uint32_t detail;
  uint8_t owner; // + 1, 0 nobody
  atomic_uchar lock;
} Line;

typedef struct {
  Line lines[(1 << LEAF_BITS) / LINE];
  uint32_t objects[(1 << LEAF_BITS) / 16];
} Leaf;

typedef struct {
  uintptr_t start;
  size_t size;
  uint32_t site;
} Object;

typedef struct {
  uint32_t use, from, allocation;
  int8_t distance;
  bool same_object, used;
  uint64_t needed, vain;
} Pair;

typedef struct {
  uint32_t offset; // in the program, of the instruction behind the call
  uint32_t size;
  uint8_t kind;
} Site;

static Leaf **map;
static Detail *details;
static atomic_uint detail_count;
static Detail *free_details;
static Object *objects;
static atomic_uint object_count;
static atomic_uint *site_of; // by offset in the code
static Site *sites;
static atomic_uint site_count;
static Pair *pairs;
static atomic_flag pairs_lock = ATOMIC_FLAG_INIT;
static atomic_flag map_lock = ATOMIC_FLAG_INIT;
static uint64_t *counts[COUNTER_THREADS];
static atomic_uint thread_count;
static uintptr_t code_start, code_end, load_base; // of the program
atomic_bool counter_on;
static atomic_ulong lost_pairs, transfers;

__thread int counter_number = -1;
__thread bool counter_busy;

static void *zeroed(size_t size) {
  void *at = mmap(NULL, size, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED)
    abort();
  return at;
}

static void take(atomic_flag *lock) {
  for (int tries = 0; atomic_flag_test_and_set(lock); tries++)
    if (tries > 50)
      sched_yield();
}

static void give(atomic_flag *lock) { atomic_flag_clear(lock); }

static void lock_line(Line *line) {
  for (int tries = 0; atomic_exchange(&line->lock, 1); tries++)
    if (tries > 50)
      sched_yield();
}

static void unlock_line(Line *line) { atomic_store(&line->lock, 0); }

static int number(void) {
  if (counter_number < 0) {
    unsigned given = atomic_fetch_add(&thread_count, 1);
    counter_number = given < COUNTER_THREADS ? (int)given : COUNTER_THREADS - 1;
  }
  return counter_number;
}

static Leaf *leaf_of(uintptr_t address, bool make) {
  uintptr_t at = address >> LEAF_BITS;
  if (at >> (ADDRESS_BITS - LEAF_BITS))
    return NULL;
  Leaf *leaf = __atomic_load_n(&map[at], __ATOMIC_ACQUIRE);
  if (leaf || !make)
    return leaf;
  take(&map_lock);
  leaf = map[at];
  if (!leaf) {
    leaf = zeroed(sizeof *leaf);
    __atomic_store_n(&map[at], leaf, __ATOMIC_RELEASE);
  }
  give(&map_lock);
  return leaf;
}

static uint32_t *object_at(Leaf *leaf, uintptr_t address) {
  return &leaf->objects[(address & ((1u << LEAF_BITS) - 1)) / 16];
}

static Line *line_at(Leaf *leaf, uintptr_t address) {
  return &leaf->lines[(address & ((1u << LEAF_BITS) - 1)) / LINE];
}

// The number of a place in the code, from 1.
static uint32_t site(uintptr_t at, enum counter_kind kind, size_t size) {
  if (at < code_start || at >= code_end)
    return 0;
  atomic_uint *slot = &site_of[at - code_start];
  unsigned known = atomic_load_explicit(slot, memory_order_relaxed);
  if (known)
    return known;
  take(&map_lock);
  known = atomic_load(slot);
  if (!known && site_count + 1 < SITES) {
    known = ++site_count;
    sites[known] = (Site){(uint32_t)(at - load_base), (uint32_t)size, kind};
    atomic_store(slot, known);
  }
  give(&map_lock);
  return known;
}

static void add_pair(Pair key, bool needed) {
  uint64_t hash = key.use * 0x9e3779b97f4a7c15u ^
                  key.from * 0xc2b2ae3d27d4eb4fu ^
                  key.allocation * 0x165667b19e3779f9u ^
                  (uint8_t)key.distance * 0x27d4eb2f165667c5u;
  hash ^= hash >> 29;
  for (int tries = 0; tries < 64; tries++) {
    Pair *at = &pairs[(hash + tries) & (PAIRS - 1)];
    if (!at->used) {
      *at = key;
      at->used = true;
    }
    if (at->use == key.use && at->from == key.from &&
        at->allocation == key.allocation && at->distance == key.distance &&
        at->same_object == key.same_object) {
      *(needed ? &at->needed : &at->vain) += 1;
      return;
    }
  }
  lost_pairs++;
}

// A thread loses a line, or it ends: what came of the transfer.
static void close_stay(Stay *stay, uintptr_t line, Leaf *leaf) {
  if (!stay->lost)
    return;
  bool needed = stay->lost & stay->used;
  take(&pairs_lock);
  transfers++;
  for (int u = 0; u < stay->uses_count; u++) {
    uint32_t mine = *object_at(leaf, line + stay->uses[u].byte);
    for (int f = 0; f < stay->from_count; f++) {
      uint32_t theirs = *object_at(leaf, line + stay->from[f].byte);
      int distance = stay->from[f].byte - stay->uses[u].byte;
      add_pair((Pair){stay->uses[u].site, stay->from[f].site,
                      objects[mine].site, (int8_t)distance, mine == theirs,
                      false, 0, 0},
               needed);
    }
  }
  give(&pairs_lock);
  stay->lost = 0;
}

// What is read and then written counts by the first place that names it.
static void remember(Touch *list, uint8_t *count, uint32_t site, int byte) {
  for (int at = 0; at < *count; at++)
    if (list[at].byte == byte)
      return;
  if (*count < SEEN)
    list[(*count)++] = (Touch){site, (uint8_t)byte};
}

static Detail *detail_of(Line *line) {
  if (line->detail)
    return &details[line->detail];
  Detail *made = NULL;
  take(&map_lock);
  if (free_details) {
    made = free_details;
    free_details = made->next;
  }
  give(&map_lock);
  if (made)
    __real_memset(made, 0, sizeof *made);
  else
    made = &details[++detail_count];
  line->detail = (uint32_t)(made - details);
  for (int t = 0; t < COUNTER_THREADS; t++)
    if (t != line->owner - 1)
      made->stays[t].stale = line->written;
  return made;
}

static void on_line(Leaf *leaf, uintptr_t start, Bytes bytes, int first,
                    uint32_t place, bool writes) {
  Line *line = line_at(leaf, start);
  int me = number();
  lock_line(line);
  if (!line->detail && (!line->owner || line->owner == me + 1)) {
    line->owner = (uint8_t)(me + 1);
    if (writes)
      line->written |= bytes;
    unlock_line(line);
    return;
  }
  Detail *detail = detail_of(line);
  Stay *mine = &detail->stays[me];
  if (mine->stale) {
    close_stay(mine, start, leaf);
    mine->lost = mine->stale;
    mine->stale = mine->used = 0;
    mine->uses_count = mine->from_count = 0;
    for (Bytes left = mine->lost; left; left &= left - 1) {
      int byte = __builtin_ctzll(left);
      uint32_t writer = detail->writer[byte];
      // The first byte that this place wrote stands for all behind it.
      if (!byte || detail->writer[byte - 1] != writer ||
          !(mine->lost >> (byte - 1) & 1))
        remember(mine->from, &mine->from_count, writer, byte);
    }
  }
  mine->used |= bytes;
  if (mine->lost)
    remember(mine->uses, &mine->uses_count, place, first);
  if (writes) {
    for (int t = 0; t < COUNTER_THREADS; t++)
      if (t != me)
        detail->stays[t].stale |= bytes;
    for (Bytes left = bytes; left; left &= left - 1)
      detail->writer[__builtin_ctzll(left)] = place;
  }
  unlock_line(line);
}

void counter_access(void *caller, const volatile void *at, size_t size,
                    enum counter_kind kind) {
  if (!atomic_load_explicit(&counter_on, memory_order_relaxed) ||
      counter_busy || !size)
    return;
  counter_busy = true;
  uint32_t place = site((uintptr_t)caller, kind, size);
  if (place) {
    counts[number()][place]++;
    uintptr_t address = (uintptr_t)at, end = address + size;
    while (address < end) {
      uintptr_t start = address & ~(uintptr_t)(LINE - 1);
      int first = (int)(address - start);
      int last = end - start < LINE ? (int)(end - start) : LINE;
      Leaf *leaf = leaf_of(start, true);
      Bytes bytes = last - first == LINE
                        ? ~(Bytes)0
                        : (((Bytes)1 << (last - first)) - 1) << first;
      if (leaf)
        on_line(leaf, start, bytes, first, place, kind != READ);
      address = start + LINE;
    }
  }
  counter_busy = false;
}

// -- the heap ---------------------------------------------------------------

// Whoever has these bytes now, nobody wrote them before.
static void forget(uintptr_t start, size_t size, uint32_t object) {
  for (uintptr_t at = start & ~(uintptr_t)(LINE - 1); at < start + size;) {
    Leaf *leaf = leaf_of(at, object != 0);
    uintptr_t next = (at | (((uintptr_t)1 << LEAF_BITS) - 1)) + 1;
    if (!leaf) {
      at = next;
      continue;
    }
    for (; at < start + size && at < next; at += LINE) {
      int first = at < start ? (int)(start - at) : 0;
      int last = start + size - at < LINE ? (int)(start + size - at) : LINE;
      Bytes bytes = last - first == LINE
                        ? ~(Bytes)0
                        : (((Bytes)1 << (last - first)) - 1) << first;
      Line *line = line_at(leaf, at);
      lock_line(line);
      if (line->detail) {
        Detail *detail = &details[line->detail];
        for (int t = 0; t < COUNTER_THREADS; t++) {
          close_stay(&detail->stays[t], at, leaf);
          detail->stays[t].stale &= ~bytes;
        }
        if (!~bytes) {
          line->detail = 0;
          take(&map_lock);
          detail->next = free_details;
          free_details = detail;
          give(&map_lock);
        }
      }
      line->written &= ~bytes;
      if (!~bytes)
        line->owner = 0;
      unlock_line(line);
      for (int byte = first & ~15; byte < last; byte += 16)
        *object_at(leaf, at + byte) = object;
    }
  }
}

void *counter_made(void *at, size_t size, void *caller) {
  if (!at || !size || counter_busy ||
      !atomic_load_explicit(&counter_on, memory_order_relaxed))
    return at;
  counter_busy = true;
  unsigned object = ++object_count;
  if (object < OBJECTS) {
    objects[object] =
        (Object){(uintptr_t)at, size, site((uintptr_t)caller, UPDATE, size)};
    forget((uintptr_t)at, size, object);
  }
  counter_busy = false;
  return at;
}

// -- what was counted -------------------------------------------------------

void counter_zero(void) {
  take(&pairs_lock);
  __real_memset(pairs, 0, PAIRS * sizeof *pairs);
  lost_pairs = transfers = 0;
  give(&pairs_lock);
  for (int t = 0; t < COUNTER_THREADS; t++)
    __real_memset(counts[t], 0, (site_count + 1) * sizeof *counts[t]);
}

void counter_dump(const char *path) {
  FILE *out = fopen(path, "w");
  if (!out)
    return;
  fprintf(out, "threads %u\ntransfers %lu\nlost %lu\n",
          thread_count < COUNTER_THREADS ? thread_count : COUNTER_THREADS,
          transfers, lost_pairs);
  for (unsigned at = 1; at <= site_count; at++) {
    fprintf(out, "site %u %x %d %u", at, sites[at].offset, sites[at].kind,
            sites[at].size);
    for (int t = 0; t < COUNTER_THREADS; t++)
      if (counts[t][at])
        fprintf(out, " %d:%lu", t, counts[t][at]);
    fputc('\n', out);
  }
  for (int at = 0; at < PAIRS; at++)
    if (pairs[at].used)
      fprintf(out, "pair %u %u %u %d %d %lu %lu\n", pairs[at].use,
              pairs[at].from, pairs[at].allocation, pairs[at].distance,
              pairs[at].same_object, pairs[at].needed, pairs[at].vain);
  fclose(out);
}

unsigned counter_new_number(void) {
  unsigned given = atomic_fetch_add(&thread_count, 1);
  return given < COUNTER_THREADS ? given : COUNTER_THREADS - 1;
}

void counter_begin(uintptr_t base, uintptr_t start, uintptr_t end) {
  load_base = base, code_start = start, code_end = end;
  if (code_end - code_start > CODE_BYTES)
    abort();
  map = zeroed((sizeof *map) << (ADDRESS_BITS - LEAF_BITS));
  details = zeroed(sizeof *details << 21);
  objects = zeroed(sizeof *objects * OBJECTS);
  site_of = zeroed((code_end - code_start) * sizeof *site_of);
  sites = zeroed(SITES * sizeof *sites);
  pairs = zeroed(PAIRS * sizeof *pairs);
  for (int t = 0; t < COUNTER_THREADS; t++)
    counts[t] = zeroed(SITES * sizeof **counts);
  number();
  counter_on = true;
}
