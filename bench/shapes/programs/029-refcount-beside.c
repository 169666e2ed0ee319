#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

struct buffer {
    _Alignas(64) atomic_int refs;
    atomic_uint wpos;
    char *data;
};

static struct buffer *buf_get(struct buffer *b)
{
    atomic_fetch_add_explicit(&b->refs, 1, memory_order_relaxed);
    return b;
}

static void buf_put(struct buffer *b)
{
    if (atomic_fetch_sub_explicit(&b->refs, 1, memory_order_acq_rel) == 1) {
        free(b->data);
        free(b);
    }
}

static void *user_thread(void *arg)
{
    unsigned long h = 0;
    for (int i = 0; i < 500000; i++) {
        struct buffer *b = buf_get(arg);
        h = h * 33 + (unsigned)i;
        buf_put(b);
    }
    return (void *)(h & 1);
}

static void *writer_thread(void *arg)
{
    struct buffer *b = arg;
    char *data = b->data;
    unsigned pos = 0;
    for (int i = 0; i < 900000; i++) {
        data[pos] = (char)(i * 7);
        pos = (pos + 1) & 1023;
        atomic_store_explicit(&b->wpos, pos, memory_order_release);
    }
    return NULL;
}

static pthread_t spawn(void *(*fn)(void *), void *arg)
{
    pthread_t t;
    if (pthread_create(&t, NULL, fn, arg))
        abort();
    return t;
}

int main(void)
{
    struct buffer *b = aligned_alloc(64, sizeof *b);
    atomic_init(&b->refs, 1);
    atomic_init(&b->wpos, 0);
    b->data = calloc(1, 1024);
    pthread_t u = spawn(user_thread, b), w = spawn(writer_thread, b);
    pthread_join(u, NULL);
    pthread_join(w, NULL);
    printf("%d %u\n", b->refs, b->wpos);
    buf_put(b);
    return 0;
}
