/* Objects behind static pointers. */
struct pool {
    long name;
    long in;
    struct pool *next;
};
struct pool *shared, *kept;
long table[64], position;

static struct pool pools[4];
__attribute__((noipa)) struct pool *make_alloc(long size) {
    return &pools[size & 3];
}

void set_up(void) { shared = make_alloc(24); }
void count(void) { shared->in++; }
void count_next(void) { shared->next->in++; }
void keep(void) { kept = shared; }
void hand(void (*to)(long *)) { to(&shared->in); }
long indexed(void) { return table[position]; }
long direct(void) {
    struct pool *fresh = make_alloc(24);
    fresh->in = 3;
    return (long)fresh;
}

int main(void) { return position != 0; }
