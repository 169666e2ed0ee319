#include "dnscached.h"
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const char config_text[] =
	"workers 3\n"
	"port 5353\n"
	"max-ttl 86400\n"
	"neg-ttl 60\n"
	"minimal-any 1\n"
	"qname-limit 20\n";
atomic_int g_stop __attribute__((aligned(CACHELINE)));
atomic_ulong g_inflight __attribute__((aligned(CACHELINE)));
struct zone *g_zone;

static struct worker *workers;
static struct ring *rings[MAX_WORKERS];

/* progress of the two preload threads; the first ends before the second starts */
static struct {
	uint64_t forward;
	uint64_t reverse;
} preload __attribute__((aligned(CACHELINE)));

/* the traffic source counts what it sends in its creator's frame */
struct source {
	int fd[MAX_WORKERS];
	int nfd;
	long total;
	unsigned long *sent;
};

struct sink {
	int nrings;
	unsigned long *acked;
	unsigned long late;
};

static struct zone *zone_get(void)
{
	atomic_fetch_add_explicit(&g_zone->refs, 1, memory_order_relaxed);
	return g_zone;
}

static void zone_put(struct zone *z)
{
	if (atomic_fetch_sub_explicit(&z->refs, 1, memory_order_acq_rel) == 1)
		free(z);
}

static struct zone *zone_new(const char *origin, uint32_t serial)
{
	struct zone *z = calloc(1, sizeof *z);
	if (!z)
		return NULL;
	atomic_init(&z->refs, 1);
	z->origin = origin;
	z->origin_len = strlen(origin);
	z->serial = serial;
	z->default_ttl = 300;
	return z;
}

static struct ring *ring_new(unsigned size)
{
	struct ring *r = calloc(1, sizeof *r);
	if (!r)
		return NULL;
	r->slot = calloc(size, sizeof *r->slot);
	r->mask = size - 1;
	return r->slot ? r : NULL;
}

static int ring_put(struct ring *r, const struct reply *rep)
{
	unsigned h = atomic_load_explicit(&r->head, memory_order_relaxed);
	if (h - atomic_load_explicit(&r->tail, memory_order_acquire) > r->mask)
		return -1;
	r->slot[h & r->mask] = *rep;
	atomic_store_explicit(&r->head, h + 1, memory_order_release);
	return 0;
}

static int ring_get(struct ring *r, struct reply *rep)
{
	unsigned t = atomic_load_explicit(&r->tail, memory_order_relaxed);
	if (t == atomic_load_explicit(&r->head, memory_order_acquire))
		return -1;
	*rep = r->slot[t & r->mask];
	r->drained++;
	atomic_store_explicit(&r->tail, t + 1, memory_order_release);
	return 0;
}

static int in_zone(const struct zone *z, const char *name)
{
	size_t n = strnlen(name, NAME_MAX_LEN);
	return n >= z->origin_len &&
	       memcmp(name + n - z->origin_len, z->origin, z->origin_len) == 0;
}

static int resolve(struct worker *w, const struct query *q, struct reply *rep)
{
	struct zone *z;
	int rc;
	if (strnlen(q->name, NAME_MAX_LEN) > g_srv.qname_limit) {
		stats_error(1);
		return RC_REFUSED;
	}
	if (q->type != QT_A && !g_srv.minimal_any) {
		stats_error(2);
		return RC_REFUSED;
	}
	z = zone_get();
	if (!in_zone(z, q->name)) {
		zone_put(z);
		return RC_REFUSED;
	}
	rep->serial = z->serial;
	rc = cache_lookup(q->name, &rep->addr);
	if (rc == RC_NXDOMAIN) {
		w->misses++;
		if (q->id % 8 == 7)
			rc = cache_insert(q->name, name_hash(q->name) & 0xffffff,
					  z->default_ttl + g_srv.neg_ttl) ? RC_SERVFAIL : RC_OK;
	} else {
		cache_touch(q->name);
	}
	zone_put(z);
	return rc;
}

static void *worker_main(void *arg)
{
	struct worker *w = arg;
	struct query q;
	for (;;) {
		struct reply rep = { 0 };
		ssize_t n = read(w->fd, &q, sizeof q);
		if (n == 0)
			break;
		if (n != (ssize_t)sizeof q) {
			if (n < 0 && errno == EINTR)
				continue;
			stats_error(0);
			continue;
		}
		rep.id = q.id;
		rep.worker = (uint8_t)w->id;
		rep.rcode = (uint8_t)resolve(w, &q, &rep);
		stats_rcode(w->id, rep.rcode);
		stats_reply(w->id, sizeof rep + strnlen(q.name, sizeof q.name));
		trail_push(rep.addr);
		w->answered++;
		atomic_fetch_sub_explicit(&g_inflight, 1, memory_order_relaxed);
		while (ring_put(w->out, &rep) < 0)
			sched_yield();
	}
	return NULL;
}

static void *janitor_main(void *arg)
{
	unsigned b = 0;
	struct timespec nap = { 0, 20000 };
	(void)arg;
	while (!atomic_load_explicit(&g_stop, memory_order_relaxed)) {
		g_srv.scanned += (uint64_t)cache_sweep_bucket(b++ % NBUCKETS);
		if (b % NBUCKETS == 0) {
			g_srv.sweeps++;
			nanosleep(&nap, NULL);
		}
	}
	return NULL;
}

static void *source_main(void *arg)
{
	struct source *s = arg;
	uint32_t x = 2463534242u;
	for (long i = 0; i < s->total; i++) {
		struct query q = { 0 };
		x ^= x << 13;
		x ^= x >> 17;
		x ^= x << 5;
		q.id = (uint16_t)i;
		q.type = QT_A;
		q.sent_at = (uint32_t)i;
		snprintf(q.name, sizeof q.name, "h%u.lan", x % 96);
		atomic_fetch_add_explicit(&g_inflight, 1, memory_order_relaxed);
		if (write(s->fd[i % s->nfd], &q, sizeof q) != (ssize_t)sizeof q) {
			perror("write");
			break;
		}
		++*s->sent;
	}
	for (int i = 0; i < s->nfd; i++)
		shutdown(s->fd[i], SHUT_WR);
	return NULL;
}

static void *sink_main(void *arg)
{
	struct sink *s = arg;
	struct reply rep;
	for (;;) {
		int stop = atomic_load(&g_stop), got = 0;
		for (int i = 0; i < s->nrings; i++)
			while (ring_get(rings[i], &rep) == 0) {
				if (rep.rcode == RC_SERVFAIL)
					s->late++;
				++*s->acked;
				got = 1;
			}
		if (!got && stop)
			break;
		if (!got)
			sched_yield();
	}
	return NULL;
}

static void *preload_main(void *arg)
{
	uint64_t *mine = arg;
	char name[NAME_MAX_LEN];
	for (int i = 0; i < 24; i++) {
		memset(name, 0, sizeof name);
		snprintf(name, sizeof name, "h%d.lan", mine == &preload.forward ? i : 24 + i);
		if (cache_insert(name, (uint32_t)i, 300) == 0)
			__atomic_fetch_add(mine, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static int preload_cache(void)
{
	uint64_t *part[2] = { &preload.forward, &preload.reverse };
	for (int i = 0; i < 2; i++) {
		pthread_t t;
		if (pthread_create(&t, NULL, preload_main, part[i]) != 0)
			return -1;
		pthread_join(t, NULL);
	}
	return 0;
}

static int run(void)
{
	struct {
		unsigned long sent;
		unsigned long acked;
		unsigned long reserved[6];
	} traffic __attribute__((aligned(CACHELINE))) = { 0 };
	struct source src = { .total = load_scale(), .sent = &traffic.sent };
	struct sink snk = { .acked = &traffic.acked };
	pthread_t tsrc, tsnk, tjan;
	workers = calloc((size_t)g_srv.nworkers, sizeof *workers);
	if (!workers)
		return -1;
	for (int i = 0; i < g_srv.nworkers; i++) {
		int sv[2];
		if (socketpair(AF_UNIX, SOCK_STREAM, 0, sv) < 0)
			return -1;
		rings[i] = ring_new(RING_SIZE);
		if (!rings[i])
			return -1;
		workers[i].id = i;
		workers[i].fd = sv[0];
		workers[i].out = rings[i];
		src.fd[src.nfd++] = sv[1];
		snk.nrings++;
	}
	for (int i = 0; i < g_srv.nworkers; i++)
		if (pthread_create(&workers[i].tid, NULL, worker_main, &workers[i]) != 0)
			return -1;
	pthread_create(&tsnk, NULL, sink_main, &snk);
	pthread_create(&tjan, NULL, janitor_main, NULL);
	pthread_create(&tsrc, NULL, source_main, &src);
	pthread_join(tsrc, NULL);
	for (int i = 0; i < g_srv.nworkers; i++)
		pthread_join(workers[i].tid, NULL);
	atomic_store(&g_stop, 1);
	pthread_join(tjan, NULL);
	pthread_join(tsnk, NULL);
	printf("sent %lu acked %lu inflight %lu scanned %lu\n", traffic.sent, traffic.acked,
	       atomic_load(&g_inflight), (unsigned long)g_srv.scanned);
	for (int i = 0; i < g_srv.nworkers; i++) {
		printf("worker %d: %lu answered, %lu misses, %u drained\n", i,
		       (unsigned long)workers[i].answered, (unsigned long)workers[i].misses,
		       rings[i]->drained);
		close(workers[i].fd);
		close(src.fd[i]);
		free(rings[i]->slot);
		free(rings[i]);
	}
	free(workers);
	return 0;
}

int main(void)
{
	if (config_load(config_text) < 0 || cache_init() < 0) {
		fprintf(stderr, "dnscached: startup failed\n");
		return 1;
	}
	g_zone = zone_new(".lan", 2024010101u);
	if (!g_zone || preload_cache() < 0)
		return 1;
	printf("dnscached: %d workers, port %d, %lu config lines, %lu names\n", g_srv.nworkers,
	       g_srv.listen_port, (unsigned long)g_srv.cfg_lines, (unsigned long)cache_size());
	if (run() < 0) {
		fprintf(stderr, "dnscached: cannot run\n");
		return 1;
	}
	stats_print(stdout);
	printf("zone %s serial %u trail %u\n", g_zone->origin, g_zone->serial, trail_count());
	zone_put(g_zone);
	return 0;
}
