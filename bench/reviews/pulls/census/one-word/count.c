#include "census.h"

#include <ctype.h>
#include <pthread.h>

/* Of each thread one word. */
static unsigned long counts[MAX_THREADS];

static struct job {
    const char *begin, *end;
    int number;
} jobs[MAX_THREADS];

static void *count_words(void *argument)
{
    const struct job *job = argument;
    int number = job->number;
    int inside = 0;
    for (const char *c = job->begin; c < job->end; c++) {
        if (isspace((unsigned char)*c)) {
            inside = 0;
        } else if (!inside) {
            inside = 1;
            counts[number]++;
        }
    }
    return NULL;
}

void count_start(const char *text, size_t size, int threads)
{
    pthread_t started[MAX_THREADS];
    size_t part = size / (size_t)threads;
    for (int i = 0; i < threads; i++) {
        jobs[i] = (struct job){text + (size_t)i * part, text + (size_t)(i + 1) * part, i};
        pthread_create(&started[i], NULL, count_words, &jobs[i]);
    }
    for (int i = 0; i < threads; i++)
        pthread_join(started[i], NULL);
}

unsigned long count_total(int threads)
{
    unsigned long sum = 0;
    for (int i = 0; i < threads; i++)
        sum += counts[i];
    return sum;
}
