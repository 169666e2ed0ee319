/* Users in buckets, each counts who uses it. */
#include "relay.h"

#include <stdio.h>
#include <stdlib.h>

static ubucket_t *buckets;

static ubucket_t *bucket_of(uint32_t id)
{
	return &buckets[id % NBUCKETS];
}

int users_init(void)
{
	buckets = aligned_alloc(CLINE, NBUCKETS * sizeof *buckets);
	if (!buckets)
		return -1;
	for (int i = 0; i < NBUCKETS; i++) {
		pthread_spin_init(&buckets[i].lock, PTHREAD_PROCESS_PRIVATE);
		buckets[i].looked = 0;
		buckets[i].head = NULL;
	}
	for (uint32_t id = 0; id < NUSERS; id++) {
		user_t *u = calloc(1, sizeof *u);
		if (!u)
			return -1;
		u->id = id;
		u->colour = id * 0x9e3779b9u >> 8;
		u->rank = 1 + id % 5;
		atomic_init(&u->refs, 1);
		snprintf(u->nick, sizeof u->nick, "user%u", id);
		u->next = bucket_of(id)->head;
		bucket_of(id)->head = u;
	}
	return 0;
}

user_t *user_peek(uint32_t id)
{
	for (user_t *u = bucket_of(id)->head; u; u = u->next)
		if (u->id == id)
			return u;
	return NULL;
}

/* Held until user_put. */
user_t *user_get(uint32_t id)
{
	ubucket_t *b = bucket_of(id);
	user_t *u;

	pthread_spin_lock(&b->lock);
	b->looked++;
	for (u = b->head; u; u = u->next)
		if (u->id == id)
			break;
	if (u)
		atomic_fetch_add_explicit(&u->refs, 1, memory_order_relaxed);
	pthread_spin_unlock(&b->lock);
	return u;
}

void user_put(user_t *u)
{
	if (atomic_fetch_sub_explicit(&u->refs, 1, memory_order_acq_rel) == 1)
		free(u);
}

void users_free(void)
{
	for (int i = 0; i < NBUCKETS; i++) {
		while (buckets[i].head) {
			user_t *u = buckets[i].head;
			buckets[i].head = u->next;
			user_put(u);
		}
		pthread_spin_destroy(&buckets[i].lock);
	}
	free(buckets);
}
