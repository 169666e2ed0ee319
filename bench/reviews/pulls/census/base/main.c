#include "census.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    size_t size = 0;
    int threads = argc > 2 ? atoi(argv[2]) : 4;
    const char *text = map_file(argc > 1 ? argv[1] : "/etc/services", &size);
    if (!text || threads < 1 || threads > MAX_THREADS)
        return 1;
    count_start(text, size, threads);
    printf("%lu words\n", count_total(threads));
    return 0;
}
