#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

typedef unsigned (*handler)(unsigned);
static unsigned h_inc(unsigned v) { return v + 1; }
static unsigned h_rot(unsigned v) { return v << 3 | v >> 29; }
static unsigned h_mul(unsigned v) { return v * 2654435761u; }
static unsigned h_not(unsigned v) { return ~v; }

struct dispatch {
    handler *volatile handlers;
    volatile unsigned registered;
};
static struct dispatch disp __attribute__((aligned(64)));
static handler slots[4096] __attribute__((aligned(64)));

static void register_handler(handler h)
{
    disp.handlers = slots;
    slots[disp.registered & 4095] = h;
    disp.registered++;
}

static void *event_loop(void *arg)
{
    unsigned v = (unsigned)(size_t)arg;
    for (int i = 0; i < 1500000; i++)
        v = disp.handlers[v % disp.registered](v);
    return (void *)(size_t)v;
}

struct start { void *(*fn)(void *); void *arg; };
static void *run(void *p)
{
    struct start *s = p;
    return s->fn(s->arg);
}

int main(void)
{
    static handler const all[4] = { h_inc, h_rot, h_mul, h_not };
    struct start s[2] = { { event_loop, (void *)11 }, { event_loop, (void *)12 } };
    pthread_t t[2];
    size_t x = 0;
    for (int i = 0; i < 4096; i++)
        register_handler(all[i & 3]);
    for (int i = 0; i < 2; i++)
        pthread_create(&t[i], NULL, run, &s[i]);
    for (int i = 0; i < 2; i++) {
        void *r;
        pthread_join(t[i], &r);
        x ^= (size_t)r;
    }
    printf("%zx\n", x);
    return 0;
}
