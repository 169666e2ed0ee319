/* Pointers that are one of two, as a conditional move or two arms of a branch make them. */
struct rec {
    long count;
    long *where;
    struct rec *next;
    char rest[40];
};

struct rec first, second, third, table[8], other[8];
struct rec *current, *spare;
void *volatile kept;

__attribute__((noinline)) void take(struct rec *p) {
    kept = p;
}
__attribute__((noinline)) struct rec *get(void) {
    return __atomic_load_n(&kept, __ATOMIC_RELAXED);
}

void two(int c) {
    struct rec *p = c ? &first : &second;
    p->count++;
}
void elements(int c, unsigned i, unsigned j) {
    struct rec *p = c ? &table[i & 7] : &other[j & 7];
    p->count++;
}
void best(void) {
    struct rec *p = first.count < second.count ? &first : &second;
    p->where = 0;
}
void given(int c, struct rec *a, struct rec *b) {
    struct rec *p = c ? a : b;
    p->count++;
}
void held(int c) {
    struct rec *p = c ? current : spare;
    p->count++;
}
void hand(int c) {
    take(c ? &first : &second);
}
/* One, or none: what is changed behind it is that one's. */
void maybe(int c) {
    struct rec *p = c ? &first : 0;
    if (p)
        p->count++;
}
void search(long wanted) {
    struct rec *found = 0;
    for (int i = 0; i < 8; i++)
        if (table[i].count == wanted) {
            found = &table[i];
            break;
        }
    if (found)
        found->where = 0;
}
/* The one mostly, and the other where a call failed. */
void mostly(void) {
    struct rec *p = (long)get() < 0 ? &second : &first;
    take(p);
    p->where = 0;
}
/* Around a loop too, in which the one that is chosen stays the same. */
void again(int c, int n) {
    struct rec *p = c ? &first : current;
    for (int i = 0; i < n; i++) {
        p->count += i;
        kept = p->next;
    }
}

/* Of these nothing is known: one of three, and what a function returned. */
void three(int c) {
    struct rec *p = c == 1 ? &first : c == 2 ? &second : &third;
    p->count++;
}
void unknown(int c) {
    struct rec *p = get();
    p = c ? &first : p;
    p->count++;
}

int main(int n, char **v) {
    two(n);
    elements(n, n, n + 1);
    best();
    given(n, &first, &second);
    held(n);
    hand(n);
    maybe(n);
    search(n);
    mostly();
    again(n, n);
    three(n);
    unknown(n);
    return v == 0;
}
