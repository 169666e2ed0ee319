#include <pthread.h>
#include <stdio.h>
#include <string.h>

static _Thread_local unsigned long served;
static _Thread_local unsigned long errors;
static pthread_mutex_t mu = PTHREAD_MUTEX_INITIALIZER;
static unsigned long total_served, total_errors;

static void handle(const char *req)
{
    if (strncmp(req, "GET ", 4) == 0)
        served++;
    else
        errors++;
}

static void *service(void *arg)
{
    char req[16];
    unsigned x = *(unsigned *)arg;
    for (int i = 0; i < 400000; i++) {
        x = x * 69069 + 1;
        strcpy(req, x & 0x4000 ? "GET /a" : "PUT /b");
        req[5] = (char)('a' + i % 26);
        handle(req);
    }
    pthread_mutex_lock(&mu);
    total_served += served;
    total_errors += errors;
    pthread_mutex_unlock(&mu);
    return NULL;
}

int main(void)
{
    pthread_t t[3];
    unsigned seed[3] = { 1, 2, 3 };
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, service, &seed[i]);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    printf("%lu %lu\n", total_served, total_errors);
    return 0;
}
