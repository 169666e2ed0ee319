#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>

struct ticket_lock { atomic_ushort next, owner; };
struct port {
    struct ticket_lock lock;
    atomic_uint irqs;
    _Alignas(64) unsigned long chars;
};
static struct port uart;

static void tl_lock(struct ticket_lock *l)
{
    unsigned short me = atomic_fetch_add(&l->next, 1);
    while (atomic_load_explicit(&l->owner, memory_order_acquire) != me)
        sched_yield();
}

static void tl_unlock(struct ticket_lock *l)
{
    atomic_fetch_add_explicit(&l->owner, 1, memory_order_release);
}

static void *printer(void *arg)
{
    struct port *p = arg;
    for (int i = 0; i < 60000; i++) {
        tl_lock(&p->lock);
        p->chars += (unsigned)i & 0x3f;
        tl_unlock(&p->lock);
    }
    return NULL;
}

static void *irq_thread(void *arg)
{
    struct port *p = arg;
    unsigned status = 0x60;
    for (int i = 0; i < 2000000; i++) {
        status = status * 5 + 1;
        if (status & 0x1000)
            atomic_fetch_add_explicit(&p->irqs, 1, memory_order_relaxed);
    }
    return NULL;
}

int main(void)
{
    pthread_t a, b, c;
    pthread_create(&a, NULL, printer, &uart);
    pthread_create(&b, NULL, printer, &uart);
    pthread_create(&c, NULL, irq_thread, &uart);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    pthread_join(c, NULL);
    printf("%lu %u\n", uart.chars, uart.irqs);
    return 0;
}
