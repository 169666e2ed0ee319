/* gcc knows which registers its own small functions leave alone, and keeps an argument there over a call. */
struct item { long n, m; };
extern void outside(void);
static __attribute__((noinline)) void change(struct item *item)
{
    item->m += item->n;
    __asm__ volatile("" ::: "memory");
}
void again(struct item *item)
{
    for (long i = 0; i < item->n; i++)
        change(item);
}
void once(struct item *item)
{
    change(item);
    outside();
}
