#include <pthread.h>
#include <stdio.h>

static struct lock_set {
    pthread_spinlock_t journal;
    pthread_spinlock_t inode;
} locks __attribute__((aligned(64)));
static struct { _Alignas(64) unsigned long blocks; } journal;
static struct { _Alignas(64) unsigned long dirty; } inodes;

static void *journal_thread(void *arg)
{
    unsigned long sum = (unsigned long)arg;
    for (int i = 0; i < 700000; i++) {
        sum = sum * 31 + i;
        pthread_spin_lock(&locks.journal);
        journal.blocks += sum & 7;
        pthread_spin_unlock(&locks.journal);
    }
    return NULL;
}

static void *inode_thread(void *arg)
{
    unsigned long ino = (unsigned long)arg;
    for (int i = 0; i < 700000; i++) {
        ino = (ino * 25214903917ul + 11) & 0xffffffffffff;
        pthread_spin_lock(&locks.inode);
        inodes.dirty ^= ino;
        pthread_spin_unlock(&locks.inode);
    }
    return NULL;
}

int main(void)
{
    pthread_t a, b;
    pthread_spin_init(&locks.journal, 0);
    pthread_spin_init(&locks.inode, 0);
    pthread_create(&a, NULL, journal_thread, (void *)5);
    pthread_create(&b, NULL, inode_thread, (void *)7);
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    printf("%lu %lx\n", journal.blocks, inodes.dirty);
    return 0;
}
