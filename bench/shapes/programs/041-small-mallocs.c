#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct peer {
    unsigned id;
    unsigned budget;
    volatile unsigned seen;
};

static unsigned parse_u(const char *s)
{
    unsigned v = 0;
    while (*s >= '0' && *s <= '9')
        v = v * 10 + (unsigned)(*s++ - '0');
    return v;
}

static void *gossip(void *arg)
{
    struct peer *p = arg;
    char msg[] = "41732";
    unsigned n = p->budget, id = p->id;
    for (unsigned i = 0; i < n; i++) {
        msg[i % 5] = (char)('0' + (i + id) % 10);
        if (parse_u(msg) % 3 != 0)
            p->seen++;
    }
    return arg;
}

int main(void)
{
    enum { N = 4 };
    pthread_t t[N];
    struct peer *peers[N];
    unsigned s = 0;
    for (int i = 0; i < N; i++) {
        peers[i] = malloc(sizeof(struct peer));
        memset(peers[i], 0, sizeof(struct peer));
        peers[i]->id = (unsigned)i;
        peers[i]->budget = 500000;
    }
    for (int i = 0; i < N; i++)
        pthread_create(&t[i], NULL, gossip, peers[i]);
    for (int i = 0; i < N; i++) {
        void *r;
        pthread_join(t[i], &r);
        s += ((struct peer *)r)->seen;
        free(r);
    }
    printf("%u\n", s);
    return 0;
}
