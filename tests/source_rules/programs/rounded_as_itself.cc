// What is asked for begins as a variable that begins as the first one: it may be any.
// no-finding
#include <cstdlib>

struct alignas(64) task {
  long done;
};

extern unsigned long second;
unsigned long first = second;
unsigned long second = first;

static void *room(unsigned long size) { return std::aligned_alloc(first, size); }

task *make() { return static_cast<task *>(room(sizeof(task))); }
