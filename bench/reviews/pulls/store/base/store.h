#ifndef STORE_H
#define STORE_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

struct settings {
  unsigned threads;
  unsigned buckets;
  size_t max_value;
  int read_only;
  int port;
};
extern struct settings settings;

struct entry {
  struct entry *next;
  uint64_t key;
  size_t size;
  char value[];
};

void table_make(void);
size_t table_get(uint64_t key, char *into, size_t room);
int table_put(uint64_t key, const char *value, size_t size);

void settings_read(int argc, char **argv);

unsigned long requests_served(void);
void serve(unsigned number);

#endif
