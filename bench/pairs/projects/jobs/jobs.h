#ifndef JOBS_H
#define JOBS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

struct job {
  struct job *next;
  int kind;
  unsigned size;
  unsigned char payload[48];
};

struct queue {
  struct job *head;
  struct job *tail;
  long length;
};

extern pthread_mutex_t queue_lock;
extern struct queue queue;
extern atomic_long jobs_done;
extern long bytes_seen;
extern int verbose;
extern const char *const kind_names[];

void push_job(struct job *job);
struct job *take_job(void);
unsigned run_job(struct job *job);
unsigned checksum(const unsigned char *bytes, size_t size);
void count_job(unsigned size);
void say(const char *format, ...);
int option(const char *name, int otherwise);
void start_workers(int how_many, long rounds);
void join_workers(void);

#endif
