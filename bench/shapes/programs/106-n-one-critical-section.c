#include <pthread.h>
#include <stdio.h>

static struct ledger {
    _Alignas(64) pthread_mutex_t mu;
    _Alignas(64) long debits;
    long credits;
} acct = { .mu = PTHREAD_MUTEX_INITIALIZER };

static void transfer(long out, long in)
{
    pthread_mutex_lock(&acct.mu);
    acct.debits += out;
    acct.credits += in;
    pthread_mutex_unlock(&acct.mu);
}

static void *payments(void *arg)
{
    unsigned x = *(unsigned *)arg;
    for (int i = 0; i < 200000; i++) {
        x = x * 1664525u + 1013904223u;
        transfer(x >> 24, x & 0xff);
    }
    return NULL;
}

static void *refunds(void *arg)
{
    unsigned x = *(unsigned *)arg;
    for (int i = 0; i < 200000; i++) {
        x ^= x << 13; x ^= x >> 17; x ^= x << 5;
        transfer(x & 3, x >> 30);
    }
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    unsigned s1 = 1, s2 = 2;
    pthread_create(&a, NULL, payments, &s1);
    pthread_create(&b, NULL, refunds, &s2);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf("%ld\n", acct.debits - acct.credits);
    return 0;
}
