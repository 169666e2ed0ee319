#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#define MAXR 8
struct rcu_reader { atomic_uint ctr; };
static struct rcu_reader readers[MAXR];
static struct { _Alignas(64) atomic_int next; } ids;
static _Thread_local int my_id = -1;
static const int table[16] = { 3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3 };

static void reader_lock(void)
{
    atomic_fetch_add_explicit(&readers[my_id].ctr, 1, memory_order_acquire);
}
static void reader_unlock(void)
{
    atomic_fetch_add_explicit(&readers[my_id].ctr, 1, memory_order_release);
}

static void *reader(void *arg)
{
    long sum = 0;
    (void)arg;
    my_id = atomic_fetch_add(&ids.next, 1);
    for (int i = 0; i < 400000; i++) {
        reader_lock();
        sum += table[i & 15];
        reader_unlock();
    }
    return (void *)sum;
}

int main(void)
{
    pthread_t t[4];
    long total = 0;
    for (int i = 0; i < 4; i++)
        pthread_create(&t[i], NULL, reader, NULL);
    for (int i = 0; i < 4; i++) {
        void *r;
        pthread_join(t[i], &r);
        total += (long)r;
    }
    printf("%ld %u\n", total, readers[0].ctr);
    return 0;
}
