#include <pthread.h>
#include <stdio.h>

#define N 4
struct logger_ctx {
    int level;
    unsigned emitted;
};
static struct logger_ctx loggers[N];
static _Thread_local struct logger_ctx *self;

static void emit(int level, const char *fmt, int v)
{
    char line[48];
    if (level < self->level)
        return;
    snprintf(line, sizeof line, fmt, level, v);
    self->emitted += line[0] != 0;
}

static void *logger_main(void *arg)
{
    self = arg;
    for (int i = 0; i < 100000; i++)
        emit(i & 3, "<%d> event %d", i);
    return NULL;
}

int main(void)
{
    unsigned sum = 0;
    for (int i = 0; i < N; i++) {
        pthread_t t;
        loggers[i].level = 1;
        pthread_create(&t, NULL, logger_main, &loggers[i]);
        pthread_join(t, NULL);
        sum += loggers[i].emitted;
    }
    printf("%u\n", sum);
    return 0;
}
