#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define NCONN 16
unsigned long conn_bytes[NCONN];

static void account(int fd, ssize_t n)
{
    if (n > 0)
        conn_bytes[fd % NCONN] += (unsigned long)n;
}

static void *pump(void *arg)
{
    int *p = arg;
    char buf[64] = "PING 0123456789\r\n";
    for (int i = 0; i < 60000; i++) {
        ssize_t w = write(p[1], buf, 1 + i % 40);
        if (w < 0)
            break;
        account(p[0], read(p[0], buf, (size_t)w));
    }
    close(p[0]);
    close(p[1]);
    return NULL;
}

int main(void)
{
    pthread_t t[3];
    int p[3][2];
    unsigned long s = 0;
    for (int i = 0; i < 3; i++)
        if (pipe(p[i]))
            return 1;
    for (int i = 0; i < 3; i++)
        pthread_create(&t[i], NULL, pump, p[i]);
    for (int i = 0; i < 3; i++)
        pthread_join(t[i], NULL);
    for (int i = 0; i < NCONN; i++)
        s += conn_bytes[i];
    printf("%lu\n", s);
    return 0;
}
