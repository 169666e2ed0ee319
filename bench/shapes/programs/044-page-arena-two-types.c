#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct arena { _Alignas(64) unsigned char mem[512]; size_t top; };
struct lexer { const char *src; volatile unsigned pos; unsigned limit; };
struct emitter { unsigned limit; volatile unsigned col; };

static void *arena_new(struct arena *a, size_t n)
{
    void *p = a->mem + a->top;
    a->top += (n + 7) & ~(size_t)7;
    return p;
}

static void *lex(void *arg)
{
    struct lexer *l = arg;
    const char *s = l->src;
    unsigned idents = 0, limit = l->limit;
    for (unsigned i = 0; i < limit; i++) {
        if (s[l->pos] == '\0')
            l->pos = 0;
        else if (s[l->pos++] == '_')
            idents++;
    }
    return (void *)(size_t)idents;
}

static void *emit(void *arg)
{
    struct emitter *e = arg;
    unsigned wraps = 0, limit = e->limit;
    for (unsigned i = 0; i < limit; i++) {
        e->col += 1 + (i & 3);
        if (e->col > 78) {
            e->col = 0;
            wraps++;
        }
    }
    return (void *)(size_t)wraps;
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
    static struct arena a;
    void *r1, *r2;
    struct lexer *l = arena_new(&a, sizeof *l);
    struct emitter *e = arena_new(&a, sizeof *e);
    l->src = "int foo_bar(int a_b) { return a_b; }";
    l->limit = e->limit = 900000;
    pthread_t t1 = spawn(lex, l), t2 = spawn(emit, e);
    pthread_join(t1, &r1);
    pthread_join(t2, &r2);
    printf("%zu %zu\n", (size_t)r1, (size_t)r2);
    return 0;
}
