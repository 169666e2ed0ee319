#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define NSCAN 4

struct scan_ctx {
    const char *needle;
    long rounds;
    long matches;
};
struct scan_ctx scanners[NSCAN];
static const char *const needles[NSCAN] = { "10", "20", "30", "40" };

static void *scan(void *arg)
{
    struct scan_ctx *c = arg;
    unsigned long want = strtoul(c->needle, NULL, 10);
    char line[32];
    long n = c->rounds, matches = 0;
    for (long i = 0; i < n; i++) {
        snprintf(line, sizeof line, "%ld", i % 50);
        if (strtoul(line, NULL, 10) <= want)
            matches++;
    }
    c->matches = matches;
    return NULL;
}

int main(void)
{
    pthread_t tid[NSCAN];
    long total = 0;
    for (int i = 0; i < NSCAN; i++) {
        scanners[i].needle = needles[i];
        scanners[i].rounds = 200000;
        pthread_create(&tid[i], NULL, scan, &scanners[i]);
    }
    for (int i = 0; i < NSCAN; i++) {
        pthread_join(tid[i], NULL);
        total += scanners[i].matches;
    }
    printf("%ld\n", total);
    return 0;
}
