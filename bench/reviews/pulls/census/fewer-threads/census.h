#ifndef CENSUS_H
#define CENSUS_H

#include <stddef.h>

#define MAX_THREADS 16
#define WORDS_OF_A_LINE 8

void count_start(const char *text, size_t size, int threads);
unsigned long count_total(int threads);

const char *map_file(const char *path, size_t *size);

#endif
