#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

struct metrics { atomic_uint cpu_samples, net_samples; };
static struct metrics metrics __attribute__((aligned(8)));

static void cpu_plugin(struct metrics *m)
{
    double load = 0.1;
    for (int i = 0; i < 900000; i++) {
        load = load * 0.93 + (i & 7) * 0.01;
        if (load > 0.01)
            atomic_fetch_add_explicit(&m->cpu_samples, 1, memory_order_relaxed);
    }
}

static void net_plugin(struct metrics *m)
{
    char dev[16];
    for (int i = 0; i < 600000; i++) {
        strcpy(dev, "eth0");
        dev[3] = (char)('0' + i % 10);
        if (strcmp(dev, "eth7") != 0)
            atomic_fetch_add_explicit(&m->net_samples, 1, memory_order_relaxed);
    }
}

static const struct plugin {
    const char *name;
    void (*run)(struct metrics *);
} plugins[] = {
    { "cpu", cpu_plugin },
    { "net", net_plugin },
};
#define NPLUG (sizeof plugins / sizeof plugins[0])

static void *plugin_thread(void *arg)
{
    const struct plugin *p = arg;
    p->run(&metrics);
    return NULL;
}

int main(void)
{
    pthread_t t[NPLUG];
    for (size_t i = 0; i < NPLUG; i++)
        pthread_create(&t[i], NULL, plugin_thread, (void *)&plugins[i]);
    for (size_t i = 0; i < NPLUG; i++)
        pthread_join(t[i], NULL);
    printf("%u %u\n", metrics.cpu_samples, metrics.net_samples);
    return 0;
}
