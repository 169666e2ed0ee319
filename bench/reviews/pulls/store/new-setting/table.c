#include "store.h"

#include <stdlib.h>
#include <string.h>

struct bucket {
    pthread_mutex_t lock;
    struct entry *first;
    char padding[64 - (sizeof(pthread_mutex_t) + sizeof(struct entry *)) % 64];
};

static struct bucket *buckets;

void table_make(void)
{
    buckets = aligned_alloc(64, settings.buckets * sizeof *buckets);
    for (unsigned i = 0; i < settings.buckets; i++) {
        pthread_mutex_init(&buckets[i].lock, NULL);
        buckets[i].first = NULL;
    }
}

static struct bucket *bucket_of(uint64_t key)
{
    return &buckets[key * 0x9e3779b97f4a7c15u % settings.buckets];
}

size_t table_get(uint64_t key, char *into, size_t room)
{
    struct bucket *bucket = bucket_of(key);
    size_t size = 0;
    pthread_mutex_lock(&bucket->lock);
    unsigned looked = 0;
    for (struct entry *e = bucket->first; e && looked < settings.max_chain; e = e->next, looked++)
        if (e->key == key) {
            size = e->size < room ? e->size : room;
            memcpy(into, e->value, size);
            break;
        }
    pthread_mutex_unlock(&bucket->lock);
    return size;
}

int table_put(uint64_t key, const char *value, size_t size)
{
    if (settings.read_only || size > settings.max_value)
        return -1;
    struct entry *made = malloc(sizeof *made + size);
    if (!made)
        return -1;
    made->key = key;
    made->size = size;
    memcpy(made->value, value, size);
    struct bucket *bucket = bucket_of(key);
    pthread_mutex_lock(&bucket->lock);
    made->next = bucket->first;
    bucket->first = made;
    pthread_mutex_unlock(&bucket->lock);
    return 0;
}
