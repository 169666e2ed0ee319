#include "store.h"

#include <stdio.h>
#include <unistd.h>

static void *worker(void *number)
{
    serve((unsigned)(uintptr_t)number);
    return NULL;
}

int main(int argc, char **argv)
{
    settings_read(argc, argv);
    table_make();
    for (unsigned i = 0; i < settings.threads; i++) {
        pthread_t thread;
        pthread_create(&thread, NULL, worker, (void *)(uintptr_t)i);
    }
    for (;;) {
        sleep(1);
        printf("%lu requests\n", requests_served());
    }
}
