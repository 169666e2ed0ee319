#include "meter.h"

#include <stdio.h>

static int verbose = 1;

void log_line(const char *what, long value)
{
    if (verbose)
        fprintf(stderr, "%s %ld\n", what, value);
}
