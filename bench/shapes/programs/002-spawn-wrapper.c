#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct parse_stats {
    volatile unsigned long tokens;
    volatile unsigned long lines;
};
static struct parse_stats st __attribute__((aligned(16)));

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
    const char *text = "GET /index.html HTTP/1.1 Host: example";
    for (int r = 0; r < 60000; r++)
        for (const char *p = text; *p; p++)
            if (*p == ' ')
                s->tokens++;
    return NULL;
}

static void *line_counter(void *arg)
{
    struct parse_stats *s = arg;
    const char text[] = "a\nbb\nccc\ndd\n\n";
    for (int r = 0; r < 60000; r++) {
        const char *p = text;
        while ((p = strchr(p, '\n')) != NULL) {
            s->lines++;
            p++;
        }
    }
    return NULL;
}

int main(void)
{
    pthread_t a = spawn(tokenizer, &st);
    pthread_t b = spawn(line_counter, &st);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf("%lu tokens %lu lines\n", st.tokens, st.lines);
    return 0;
}
