// An index that is named after the number of a thread or processor, or comes from a function that is.
// expect: packed-thread-slots medium hits
// expect: packed-thread-slots medium misses
extern unsigned raw_smp_processor_id(void);
extern unsigned next_thread_id(void);
extern unsigned num_cpus(void);
struct worker {
  unsigned long done;
};
static unsigned long hits[64];
void hit(unsigned worker_id) { hits[worker_id]++; }
static unsigned long misses[64];
void miss(void) { misses[raw_smp_processor_id()]++; }
// A number that is given to somebody, one of how many there are, a member of what is called so, and all of them in turn.
static unsigned long given[64], sizes[64], levels[64], sums[64];
void give(void) { given[next_thread_id()]++; }
void size(void) { sizes[num_cpus()]++; }
void level(struct worker *worker) { levels[worker->done]++; }
void sum(void) {
  for (unsigned cpu = 0; cpu < 64; cpu++)
    sums[cpu]++;
}
