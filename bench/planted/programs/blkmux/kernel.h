/* In the style of a block layer. */
/*
 * The few things of the kernel that the block layer leans on.
 */
#ifndef _KERNEL_H
#define _KERNEL_H

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;

#define NR_CPUS		4
#define SMP_CACHE_BYTES	64
#define ____cacheline_aligned	__attribute__((aligned(SMP_CACHE_BYTES)))
#define __init		__attribute__((cold))
#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)

#define READ_ONCE(x)		__atomic_load_n(&(x), __ATOMIC_RELAXED)
#define WRITE_ONCE(x, v)	__atomic_store_n(&(x), (v), __ATOMIC_RELAXED)
#define smp_load_acquire(p)	__atomic_load_n((p), __ATOMIC_ACQUIRE)
#define smp_store_release(p, v)	__atomic_store_n((p), (v), __ATOMIC_RELEASE)

typedef struct { int counter; } atomic_t;
#define atomic_inc(v)	((void)__atomic_add_fetch(&(v)->counter, 1, __ATOMIC_RELAXED))
#define atomic_dec(v)	((void)__atomic_sub_fetch(&(v)->counter, 1, __ATOMIC_RELAXED))
#define atomic_read(v)	READ_ONCE((v)->counter)
#define atomic_dec_and_test(v)	(__atomic_sub_fetch(&(v)->counter, 1, __ATOMIC_ACQ_REL) == 0)

#define container_of(ptr, type, member) \
	((type *)((char *)(ptr) - offsetof(type, member)))

struct list_head {
	struct list_head *next, *prev;
};

static inline void INIT_LIST_HEAD(struct list_head *list)
{
	list->next = list;
	list->prev = list;
}

static inline bool list_empty(const struct list_head *head)
{
	return head->next == head;
}

static inline void list_add_tail(struct list_head *item, struct list_head *head)
{
	item->next = head;
	item->prev = head->prev;
	head->prev->next = item;
	head->prev = item;
}

static inline void list_del_init(struct list_head *entry)
{
	entry->next->prev = entry->prev;
	entry->prev->next = entry->next;
	INIT_LIST_HEAD(entry);
}

#define list_first_entry(head, type, member) container_of((head)->next, type, member)

typedef struct { u32 val; } spinlock_t;

static inline void spin_lock(spinlock_t *lock)
{
	while (__atomic_exchange_n(&lock->val, 1, __ATOMIC_ACQUIRE))
		sched_yield();
}

static inline void spin_unlock(spinlock_t *lock)
{
	__atomic_store_n(&lock->val, 0, __ATOMIC_RELEASE);
}

static inline void *kzalloc(size_t size)
{
	return calloc(1, size);
}

static inline void *kcalloc(size_t n, size_t size)
{
	return calloc(n, size);
}

#define cond_resched()	usleep(30)

/* printk.c */
extern int console_loglevel;
void printk(int level, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
#define pr_err(...)	printk(3, __VA_ARGS__)
#define pr_info(...)	printk(6, __VA_ARGS__)
#define pr_debug(...)	do { if (unlikely(console_loglevel > 7)) printk(7, __VA_ARGS__); } while (0)

extern u32 jiffies;

/* kthread.c */
struct task_struct;
struct task_struct *kthread_create(int (*fn)(void *), void *data, const char *comm, int cpu);
int wake_up_processes(void);
int kthread_stop_wait(struct task_struct *tsk);
void kthread_account(u32 work);
u32 prandom_u32(void);
int smp_processor_id(void);
void wait_for_boot(void);
void __init boot_init(int nr);

#endif
