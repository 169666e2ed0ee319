#include "ls.h"
#include <unistd.h>

static const char rule_text[] = "error 0\nwarn 1\ninfo 1\ndebug 2\n";

/* heart beats, one byte a thread */
unsigned char g_alive[8] __attribute__((aligned(LINE)));

/* lines dropped by the filter, a cell for each tailer on its own line */
static struct {
	uint64_t dropped;
	uint64_t longest;
} __attribute__((aligned(LINE))) filtered[NTAIL];

/* the event log of the daemon itself, under its lock */
static struct {
	pthread_mutex_t mu;
	uint64_t events;
	uint64_t last;
} self_log __attribute__((aligned(LINE))) = { .mu = PTHREAD_MUTEX_INITIALIZER };

/* set by the operator, looked at for every line; the poller counts its turns */
static struct {
	int reload;
	int verbose;
	unsigned long polls;
} control __attribute__((aligned(LINE)));

/* index pass at start: one thread after the other */
static struct {
	uint64_t files;
	uint64_t bytes;
} scan __attribute__((aligned(LINE)));

static struct tailer *tailers[NTAIL];

static void note(uint64_t v)
{
	pthread_mutex_lock(&self_log.mu);
	self_log.events++;
	self_log.last = v;
	pthread_mutex_unlock(&self_log.mu);
}

void control_poll(void)
{
	__atomic_fetch_add(&control.polls, 1, __ATOMIC_RELAXED);
}

static void make_line(struct line *l, int source, uint32_t x)
{
	static const char *const words[] = { "error", "warn", "info", "debug", "trace" };
	memset(l, 0, sizeof *l);
	l->source = (uint32_t)source;
	l->level = x >> 5 & 3;
	snprintf(l->text, sizeof l->text, "%s: unit %u", words[x % 5], x >> 8 & 1023);
}

static uint32_t parse(const struct line *l)
{
	uint32_t h = 0;
	for (const char *p = l->text; *p; p++)
		h = h * 31 + (unsigned char)*p;
	return h;
}

static void *tailer_main(void *arg)
{
	struct tailer *t = arg;
	struct line l;
	uint32_t x = 362436069u + (uint32_t)t->id;
	for (long i = 0; i < t->count; i++) {
		x ^= x << 13;
		x ^= x >> 17;
		x ^= x << 5;
		make_line(&l, t->id, x);
		if (__atomic_load_n(&control.reload, __ATOMIC_RELAXED))
			note(0);
		t->cur->offset += (uint32_t)strlen(l.text) + (parse(&l) == 0);
		t->cur->lines++;
		g_alive[t->id] ^= 1;
		metric_add(t->parsed, 1);
		if (!rule_match(&l)) {
			filtered[t->id].dropped++;
			continue;
		}
		if (i % 16 == 0)
			queue_put(t->q, &l);
		if (i % 65536 == 65535)
			note((uint64_t)i);
	}
	queue_done(t->q);
	return NULL;
}

static void *scan_main(void *arg)
{
	uint64_t *n = arg;
	for (int i = 0; i < 300; i++)
		__atomic_fetch_add(n, (uint64_t)i, __ATOMIC_RELAXED);
	return NULL;
}

static int scan_files(void)
{
	uint64_t *part[2] = { &scan.files, &scan.bytes };
	for (int i = 0; i < 2; i++) {
		pthread_t t;
		if (pthread_create(&t, NULL, scan_main, part[i]) != 0)
			return -1;
		pthread_join(t, NULL);
	}
	return 0;
}

static struct conn *conn_open(int fd)
{
	struct conn *c = aligned_alloc(LINE, LINE);
	if (!c)
		return NULL;
	memset(c, 0, sizeof *c);
	c->fd = fd;
	c->window = 1;
	return c;
}

static int setup(long count)
{
	static const char *const names[NTAIL] = { "parsed.syslog", "parsed.auth", "parsed.kern" };
	struct cursor *cur[NTAIL];
	/* the cursors are made together, so they lie one behind the other */
	for (int i = 0; i < NTAIL; i++)
		if (!(cur[i] = calloc(1, sizeof **cur)))
			return -1;
	for (int i = 0; i < NTAIL; i++) {
		struct tailer *t = aligned_alloc(LINE, sizeof *t);
		if (!t)
			return -1;
		memset(t, 0, sizeof *t);
		t->id = i;
		t->count = count;
		t->cur = cur[i];
		t->q = &g_queue;
		if (!(t->parsed = metric_new(names[i])))
			return -1;
		tailers[i] = t;
	}
	m_shipped = metric_new("shipped");
	m_acked = metric_new("acked");
	return m_shipped && m_acked ? 0 : -1;
}

int main(void)
{
	const char *s = getenv("LOAD");
	long count = s ? strtol(s, NULL, 0) : 1000000;
	int p[2];
	pthread_t ship, ack;
	if (count <= 0 || rules_load(rule_text) < 0 || pipe(p) < 0 || scan_files() < 0) {
		fprintf(stderr, "logship: startup failed\n");
		return 1;
	}
	g_conn = conn_open(p[1]);
	if (!g_conn || setup(count) < 0) {
		fprintf(stderr, "logship: no memory\n");
		return 1;
	}
	g_acks = count * 12;
	queue_init(&g_queue, NTAIL);
	pthread_create(&ship, NULL, shipper_main, &g_queue);
	pthread_create(&ack, NULL, acker_main, g_conn);
	for (int i = 0; i < NTAIL; i++)
		if (pthread_create(&tailers[i]->tid, NULL, tailer_main, tailers[i]) != 0)
			return 1;
	for (int i = 0; i < NTAIL; i++)
		pthread_join(tailers[i]->tid, NULL);
	pthread_join(ship, NULL);
	pthread_join(ack, NULL);
	for (int i = 0; i < NTAIL; i++)
		printf("source %d: %u lines, offset %u, dropped %lu\n", i, tailers[i]->cur->lines,
		       tailers[i]->cur->offset, (unsigned long)filtered[i].dropped);
	metrics_print(stdout);
	rules_print(stdout);
	printf("sent %lu acked %u sum %x scan %lu/%lu events %lu\n", (unsigned long)g_conn->sent,
	       g_conn->acked, g_conn->ack_sum, (unsigned long)scan.files,
	       (unsigned long)scan.bytes, (unsigned long)self_log.events);
	return 0;
}
