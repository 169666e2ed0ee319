#include "meter.h"

#include <stdio.h>
#include <string.h>

static int verbose = 1;
static char prefix[32] = "meter: ";

void log_name(const char *name)
{
    snprintf(prefix, sizeof prefix, "%s: ", name);
}

void log_line(const char *what, long value)
{
    if (verbose)
        fprintf(stderr, "%s%s %ld\n", prefix, what, value);
}
