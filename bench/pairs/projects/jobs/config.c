#include "jobs.h"
#include <stdlib.h>
#include <string.h>

int verbose;
static char option_names[8][20];
static int option_values[8];
static int options_known;

int option(const char *name, int otherwise) {
  for (int i = 0; i < options_known; ++i)
    if (strcmp(option_names[i], name) == 0)
      return option_values[i];
  const char *text = getenv(name);
  int value = text ? atoi(text) : otherwise;
  if (options_known < 8) {
    strncpy(option_names[options_known], name, 19);
    option_values[options_known++] = value;
  }
  return value;
}
