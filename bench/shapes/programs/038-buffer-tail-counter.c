#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

struct console {
    volatile char line[56];
    atomic_ulong bells;
};
struct console tty __attribute__((aligned(64)));

static void *typist(void *arg)
{
    const char *msg = arg;
    unsigned col = 0;
    for (int i = 0; i < 1200000; i++) {
        char ch = msg[i % 20];
        if (ch >= 'a' && ch <= 'z')
            ch -= 32;
        tty.line[col] = ch;
        col = col + 1 < sizeof tty.line ? col + 1 : 0;
    }
    return NULL;
}

static void *bell(void *arg)
{
    unsigned div = *(unsigned *)arg, n = 0;
    for (int i = 0; i < 1200000; i++)
        if (++n >= div) {
            n = 0;
            atomic_fetch_add_explicit(&tty.bells, 1, memory_order_relaxed);
        }
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    unsigned div = 3;
    pthread_create(&a, NULL, typist, "hello world of types");
    pthread_create(&b, NULL, bell, &div);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf("%.10s %lu\n", (char *)tty.line, tty.bells);
    return 0;
}
