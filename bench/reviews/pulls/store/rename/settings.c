#include "store.h"

#include <stdlib.h>

struct options options = {4, 4096, 1024, 0, 7777};

void settings_read(int argc, char **argv)
{
    if (argc > 1)
        options.threads = (unsigned)atoi(argv[1]);
    if (argc > 2)
        options.buckets = (unsigned)atoi(argv[2]);
    if (argc > 3)
        options.frozen = atoi(argv[3]);
}
