// The driver: worker threads run statements for a while; prints how many a
// second.
//
// Usage: table_cache [threads=N] [seconds=S] [VARIABLE=VALUE...], with the
// variables of sys_vars.cc.
//
// Three statements in four only look a table's share up, as preparing one does:
// they take LOCK_open and leave unused_tables alone.  The fourth opens a table,
// scans it and releases it.  A scan looks at unused_tables after every row,
// without the lock, and counts how often the cache had run dry: the figure that
// table_cache_size is tuned by.
#include "sys_vars.h"
#include "table_cache.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static constexpr unsigned long MAX_THREADS = 64;

using Table_name = char[32];

// What a worker owns: a whole number of lines, so that no two share one.
struct alignas(64) Worker {
  pthread_t thread;
  const Table_name *names;
  unsigned long number;
  unsigned long statements;
  unsigned long rows;
  unsigned long dry;
  unsigned long checksum;
};

static Worker workers[MAX_THREADS];

// Read by all workers before every statement, written once.
struct alignas(64) Stop {
  bool now;
};

static Stop stop;

// Threads that share a core would take turns rather than contend.
static void pin_to_core(unsigned long number) {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof(allowed), &allowed) || !CPU_COUNT(&allowed))
    return;
  unsigned long skip = number % CPU_COUNT(&allowed);
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
    if (!CPU_ISSET(cpu, &allowed) || skip--)
      continue;
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    pthread_setaffinity_np(pthread_self(), sizeof(one), &one);
    return;
  }
}

static void scan_table(Worker *worker, const char *name) {
  Table *table = tc_acquire_table(name);
  unsigned long checksum = worker->checksum;
  unsigned long rows = scan_rows;
  for (unsigned long row = 0; row < rows; row++) {
    for (int column = 0; column < 4; column++)
      checksum = checksum * 6364136223846793005u + row;
    if (!tc_has_unused())
      worker->dry++;
  }
  table->rows_read += rows;
  worker->rows += rows;
  worker->checksum = checksum;
  tc_release_table(table);
}

static void describe_table(Worker *worker, const char *name) {
  Table_share *share = tc_acquire_share(name);
  worker->checksum += share->hash;
  tc_release_share(share);
}

static void *run_worker(void *argument) {
  auto *worker = static_cast<Worker *>(argument);
  pin_to_core(worker->number);
  unsigned long statements = 0;
  while (!__atomic_load_n(&stop.now, __ATOMIC_RELAXED)) {
    const char *name =
        worker->names[(worker->number + statements) % table_count];
    if (statements % scan_every == 0)
      scan_table(worker, name);
    else
      describe_table(worker, name);
    statements++;
  }
  worker->statements = statements;
  return nullptr;
}

// Values of the two arguments that are no system variables.
struct Arguments {
  unsigned long threads = 2;
  double seconds = 1;
};

static bool read_argument(const char *argument, Arguments *arguments) {
  const char *equals = strchr(argument, '=');
  if (!equals)
    return false;
  char *end;
  double value = strtod(equals + 1, &end);
  if (end == equals + 1 || *end || value < 0 || value > 1e6)
    return false;
  Table_name name = {};
  size_t length = equals - argument;
  if (length >= sizeof(name))
    return false;
  memcpy(name, argument, length);
  if (!strcmp(name, "seconds")) {
    arguments->seconds = value;
    return true;
  }
  auto number = static_cast<unsigned long>(value);
  if (!strcmp(name, "threads")) {
    arguments->threads = number;
    return number >= 1 && number <= MAX_THREADS;
  }
  Sys_var *var = find_sys_var(name);
  return var && var->update(number);
}

static double now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) +
         static_cast<double>(time.tv_nsec) * 1e-9;
}

static void sleep_for(double seconds) {
  timespec time;
  time.tv_sec = static_cast<time_t>(seconds);
  time.tv_nsec =
      static_cast<long>((seconds - static_cast<double>(time.tv_sec)) * 1e9);
  while (nanosleep(&time, &time)) {
  }
}

int main(int argc, char **argv) {
  Arguments arguments;
  for (int i = 1; i < argc; i++)
    if (!read_argument(argv[i], &arguments)) {
      printf("table_cache: not understood: %s\n", argv[i]);
      return 2;
    }

  auto *names =
      static_cast<Table_name *>(calloc(table_count, sizeof(Table_name)));
  if (!names)
    return 1;
  for (unsigned long i = 0; i < table_count; i++)
    snprintf(names[i], sizeof(names[i]), "sbtest%lu", i);
  tc_start(table_count);

  double start = now();
  for (unsigned long i = 0; i < arguments.threads; i++) {
    workers[i].names = names;
    workers[i].number = i;
    if (pthread_create(&workers[i].thread, nullptr, run_worker, &workers[i]))
      return 1;
  }
  sleep_for(arguments.seconds);
  __atomic_store_n(&stop.now, true, __ATOMIC_RELAXED);
  unsigned long statements = 0, rows = 0, dry = 0;
  for (unsigned long i = 0; i < arguments.threads; i++) {
    pthread_join(workers[i].thread, nullptr);
    statements += workers[i].statements;
    rows += workers[i].rows;
    dry += workers[i].dry;
  }
  double elapsed = now() - start;
  tc_end();
  free(names);

  printf("ops_per_s %.0f\n", static_cast<double>(statements) / elapsed);
  printf("rows_per_s %.0f\n", static_cast<double>(rows) / elapsed);
  printf("cache_dry %lu\n", dry);
  return 0;
}
