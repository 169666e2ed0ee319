/*	lease.c - the lease table	*/

#include "leased.h"

static struct lease	*buckets[NBUCKET];
static pthread_mutex_t	 bucket_lock[NBUCKET];
static struct lease	*all_leases;
static u_int32_t	 nleases;
static u_int32_t	 lookups;
static u_int32_t	 probes_sent, conflicts;
static u_int32_t	 probe_hist[16];

static u_int
hw_hash(const u_char *hw)
{
	return (hw[3] * 31 + hw[4] * 7 + hw[5]) % NBUCKET;
}

static void
expire_scan(void *arg)
{
	struct lease *ls;
	u_int32_t *count = arg;

	*count = 0;
	for (ls = all_leases; ls; ls = ls->ls_all)
		if (ls->ls_flags & 0x8000)
			(*count)++;
}

void
lease_init(void)
{
	static u_int32_t frozen;
	struct lease *ls;
	struct subnet *sn;
	u_int h, i;

	for (i = 0; i < NBUCKET; i++)
		pthread_mutex_init(&bucket_lock[i], NULL);
	for (i = 0; i < config.cf_nclient; i++) {
		ls = xcalloc(1, sizeof(*ls));
		ls->ls_hw[0] = 2;
		ls->ls_hw[4] = i % nserver;
		ls->ls_hw[5] = i;
		sn = ifaces[i % nserver]->if_subnet;
		ls->ls_addr = sn->sn_addr + 16 + i;
		ls->ls_flags = 1;
		h = hw_hash(ls->ls_hw);
		ls->ls_hash = buckets[h];
		buckets[h] = ls;
		ls->ls_all = all_leases;
		all_leases = ls;
		nleases++;
	}
	timeout_add(expire_scan, &frozen, 50000);
}

struct lease *
lease_find(const u_char *hw)
{
	struct lease *ls;
	u_int h = hw_hash(hw);

	lookups++;
	pthread_mutex_lock(&bucket_lock[h]);
	for (ls = buckets[h]; ls; ls = ls->ls_hash)
		if (memcmp(ls->ls_hw, hw, sizeof(ls->ls_hw)) == 0)
			break;
	pthread_mutex_unlock(&bucket_lock[h]);
	return ls;
}

/* a client is heard on one interface only */
int
lease_extend(struct lease *ls, u_int32_t secs)
{
	if (!(ls->ls_flags & 1))
		return -1;
	ls->ls_expiry = cur_time + secs;
	ls->ls_renewals++;
	return 0;
}

static u_int32_t
echo(in_addr_t a, u_int32_t n)
{
	u_int32_t x = a ^ (n * 2654435761u);
	int i;

	for (i = 0; i < 12; i++) {
		x ^= x << 13;
		x ^= x >> 17;
		x ^= x << 5;
	}
	return x;
}

void *
probe_thread(void *arg)
{
	struct lease *ls;
	u_int32_t n = 0, x;

	(void)arg;
	while (!shutting_down) {
		for (ls = all_leases; ls && !shutting_down; ls = ls->ls_all) {
			x = echo(ls->ls_addr, n++);
			ls->ls_probed++;
			ls->ls_rtt = (ls->ls_rtt * 7 + (x & 0xff)) / 8;
			probes_sent++;
			probe_hist[x >> 28]++;
			if (x == 0)
				conflicts++;
		}
		sched_yield();
	}
	return NULL;
}

void
lease_report(void)
{
	struct lease *ls;
	u_int32_t r = 0, p = 0;

	for (ls = all_leases; ls; ls = ls->ls_all) {
		r += ls->ls_renewals;
		p += ls->ls_probed != 0;
	}
	printf("%u leases, %u lookups, %u renewals, %u probed, %u probes, %u conflicts\n", nleases, lookups, r, p, probes_sent, conflicts);
	if (debug)
		for (r = 0; r < 16; r++)
			printf("  rtt %2u: %u\n", r, probe_hist[r]);
}
