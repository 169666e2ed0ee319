#include <stdlib.h>
#include <string.h>
#include "namec.h"

struct zone_set {
	pthread_rwlock_t	lock;
	u32			nr;
	u32			generation;
	u32			deny[14];
	u64			reloads;
};

struct zone_set *zones_load(u32 nr)
{
	struct zone_set *zs = aligned_alloc(64, (sizeof(*zs) + 63) & ~63ul);

	if (!zs)
		return NULL;
	memset(zs, 0, sizeof(*zs));
	pthread_rwlock_init(&zs->lock, NULL);
	zs->nr = nr < 14 ? nr : 14;
	for (u32 i = 0; i < zs->nr; i++)
		zs->deny[i] = 0x9e3779b9u * (i + 1);
	return zs;
}

void zones_free(struct zone_set *zs)
{
	pthread_rwlock_destroy(&zs->lock);
	free(zs);
}

bool zones_deny(struct zone_set *zs, u32 hash)
{
	bool deny = false;
	u32 i, nr;

	pthread_rwlock_rdlock(&zs->lock);
	nr = zs->nr;
	for (i = 0; i < nr; i++)
		if (zs->deny[i] == hash)
			deny = true;
	if (zs->generation == ~0u)
		deny = true;
	pthread_rwlock_unlock(&zs->lock);
	return deny;
}

void zones_reload(struct zone_set *zs)
{
	pthread_rwlock_wrlock(&zs->lock);
	zs->generation++;
	zs->reloads++;
	pthread_rwlock_unlock(&zs->lock);
}
