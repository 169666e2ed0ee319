#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct parse_stats {
    volatile unsigned long tokens;
    volatile unsigned long lines;
};
static struct parse_stats st __attribute__((aligned(64)));
static struct { _Alignas(64) volatile unsigned long longest; } width;

static pthread_t spawn(void *(*fn)(void *), void *arg)
{
    pthread_t t;
    if (pthread_create(&t, NULL, fn, arg) != 0) {
        perror("pthread_create");
        exit(1);
    }
    return t;
}

static void *tokenizer(void *arg)
{
    struct parse_stats *s = arg;
    const char *text = "GET /index.html HTTP/1.1\nHost: example\n\n";
    for (int r = 0; r < 60000; r++)
        for (const char *p = text; *p; p++) {
            if (*p == ' ')
                s->tokens++;
            if (*p == '\n')
                s->lines++;
        }
    return NULL;
}

static void *measurer(void *arg)
{
    const char *text = arg;
    for (int r = 0; r < 60000; r++) {
        const char *p = text, *q;
        while ((q = strchr(p, '\n')) != NULL) {
            if ((unsigned long)(q - p) > width.longest)
                width.longest = (unsigned long)(q - p);
            p = q + 1;
        }
    }
    return NULL;
}

int main(void)
{
    char text[] = "a\nbb\nccc\ndd\n\n";
    pthread_t a = spawn(tokenizer, &st);
    pthread_t b = spawn(measurer, text);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf("%lu tokens %lu lines %lu\n", st.tokens, st.lines, width.longest);
    return 0;
}
