/* In a shared object: storage of the thread behind descriptors and calls, and functions that tell the thread. */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>

struct service {
  long (*number)(struct service *);
  long calls;
};
static _Thread_local unsigned number;
extern _Thread_local unsigned elsewhere;
_Thread_local struct {
  unsigned kind : 5, number : 7;
} packed;
long by_number[64], by_elsewhere[64], by_packed[64], by_processor[64], by_specific[64];
long by_shared[64], by_result[64];
long shared;
struct service service;
pthread_key_t key;

void set(unsigned n) { number = n; }
void count_by_number(void) { by_number[number]++; }
void count_by_elsewhere(void) { by_elsewhere[elsewhere]++; }
void count_by_packed(void) { by_packed[packed.number]++; }
void count_by_processor(void) { by_processor[sched_getcpu()]++; }
void count_by_specific(void) { by_specific[*(long *)pthread_getspecific(key)]++; }
void count_by_shared(void) { by_shared[shared]++; }
void count_by_result(void) { by_result[service.number(&service)]++; }
