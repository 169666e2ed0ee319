#include "store.h"

#include <stdlib.h>

struct settings settings = {4, 4096, 1024, 0, 7777, 64};

void settings_read(int argc, char **argv)
{
    if (argc > 1)
        settings.threads = (unsigned)atoi(argv[1]);
    if (argc > 2)
        settings.buckets = (unsigned)atoi(argv[2]);
    if (argc > 3)
        settings.read_only = atoi(argv[3]);
    if (argc > 4)
        settings.max_chain = (unsigned)atoi(argv[4]);
}
