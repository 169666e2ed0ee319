/* domain.c - recipient domains; the table never changes once made */
#include "postrun.h"

static struct domain *domain_tab[NDOMAIN];

void
domain_init(void)
{
	uint32_t i;
	struct domain *d;

	for (i = 0; i < NDOMAIN * 2; i++) {
		d = xmalloc(sizeof(*d));
		d->d_hash = i;
		d->d_policy = i % 5;
		d->d_relay = i & 1;
		d->d_refs = 1;
		snprintf(d->d_name, sizeof(d->d_name), "d%u.example", i);
		d->d_next = domain_tab[i % NDOMAIN];
		domain_tab[i % NDOMAIN] = d;
	}
}

struct domain *
domain_ref(uint32_t h)
{
	struct domain *d;

	for (d = domain_tab[h % NDOMAIN]; d != NULL; d = d->d_next)
		if (d->d_hash == h % (NDOMAIN * 2)) {
			__atomic_add_fetch(&d->d_refs, 1, __ATOMIC_RELAXED);
			return (d);
		}
	return (NULL);
}

void
domain_unref(struct domain *d)
{
	__atomic_sub_fetch(&d->d_refs, 1, __ATOMIC_RELAXED);
}
