#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

struct daemon_state {
    int listen_fd;
    int backlog;
    atomic_long accepted;
    atomic_long reaped;
} ds __attribute__((aligned(64)));

struct start {
    int (*fn)(unsigned);
    unsigned arg;
};

static void *trampoline(void *p)
{
    struct start s = *(struct start *)p;
    free(p);
    return (void *)(long)s.fn(s.arg);
}

static pthread_t start_service(int (*fn)(unsigned), unsigned arg)
{
    pthread_t t;
    struct start *s = malloc(sizeof *s);
    s->fn = fn;
    s->arg = arg;
    if (pthread_create(&t, NULL, trampoline, s))
        abort();
    return t;
}

static int acceptor(unsigned n)
{
    unsigned h = 17;
    while (n--) {
        h = h * 31 + n;
        if (h & 3)
            atomic_fetch_add_explicit(&ds.accepted, 1, memory_order_relaxed);
    }
    return (int)h;
}

static int reaper(unsigned n)
{
    unsigned x = 99;
    while (n--) {
        x ^= x << 13; x ^= x >> 17; x ^= x << 5;
        atomic_fetch_add_explicit(&ds.reaped, x & 1, memory_order_relaxed);
    }
    return (int)x;
}

int main(void)
{
    pthread_t a = start_service(acceptor, 800000);
    pthread_t b = start_service(reaper, 800000);
    void *ra, *rb;
    pthread_join(a, &ra);
    pthread_join(b, &rb);
    printf("%ld %ld %ld\n", ds.accepted, ds.reaped, (long)ra ^ (long)rb);
    return 0;
}
