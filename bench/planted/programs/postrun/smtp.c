/* smtp.c - the session side: commands, greylist, rate limit */
#include "postrun.h"

static struct greyent grey[NGREY];	/* by peer, first come */

static struct {
	int32_t		tokens;		/* sessions take */
	uint32_t	denied;
	uint32_t	refilled;	/* housekeeper gives */
	uint32_t	rate;
} bucket = { 1 << 20, 0, 0, 64 };

static uint32_t dialogue_sum[MAXSESS];

static const struct cmd {
	const char	*name;
	int		 len;
	int		 state;
} cmdtab[] = {
	{ "HELO", 4, 1 },
	{ "MAIL", 4, 2 },
	{ "RCPT", 4, 3 },
	{ "DATA", 4, 4 },
	{ "QUIT", 4, 0 },
	{ NULL, 0, 0 },
};

struct session *
session_new(int id)
{
	struct session *s = xmalloc(sizeof(*s));

	s->s_id = id;
	s->s_seed = 77 + id;
	return (s);
}

int
rate_take(int n)
{
	if (__atomic_sub_fetch(&bucket.tokens, n, __ATOMIC_RELAXED) < 0) {
		bucket.denied++;
		return (0);
	}
	return (1);
}

void
rate_refill(uint32_t t)
{
	if (t == bucket.refilled)
		return;
	bucket.refilled = t;
	if ((t & 63) == 0)
		__atomic_add_fetch(&bucket.tokens, bucket.rate, __ATOMIC_RELAXED);
}

int
grey_check(uint32_t peer, uint32_t now)
{
	struct greyent *g = &grey[peer % NGREY];

	if (g->g_peer != peer) {
		g->g_peer = peer;
		g->g_passed = 0;
	}
	g->g_seen = now;
	return (++g->g_passed > limits.grey_delay);
}

/* one slot in a turn, so that a sweep takes a while */
void
grey_sweep(uint32_t tick)
{
	struct greyent *g = &grey[(tick * 7) % NGREY];

	g->g_age++;
}

static int
lookup(const char *line)
{
	const struct cmd *c;

	for (c = cmdtab; c->name != NULL; c++)
		if (memcmp(line, c->name, c->len) == 0)
			return (c->state);
	n_badcmd++;
	return (-1);
}

static int
rcpt(struct session *s, const char *arg, uint32_t peer)
{
	uint32_t h = 5381;

	while (*arg != '\0' && *arg != '>')
		h = h * 33 + (unsigned char)*arg++;
	h ^= peer;
	if (s->s_dom != NULL)
		domain_unref(s->s_dom);
	s->s_dom = domain_ref(h);
	if (s->s_dom == NULL || s->s_dom->d_policy > 4) {
		smtpstat[s->s_id].ss_reply[RC_PERM]++;
		return (0);
	}
	return (1);
}

static void
data(struct session *s, uint32_t peer)
{
	struct msg *m = msg_new();
	uint32_t i, sum = peer;
	int len = 24 + (peer & 15);

	if (m == NULL) {
		n_oom++;
		return;
	}
	for (i = 0; i < (uint32_t)len; i++)
		sum = (sum << 3) ^ (sum >> 7) ^ i;
	if (len > limits.max_size)
		smtpstat[s->s_id].ss_reply[RC_TEMP]++;
	m->m_qid = new_qid();
	m->m_dom = s->s_dom;
	m->m_size = len;
	m->m_sum = sum;
	m->m_mbox = (sum >> 4) % NMBOX;
	spool_put(m);
	smtpstat[s->s_id].ss_msgs++;
	dialogue_sum[s->s_id] ^= sum;
	__atomic_add_fetch(&msgs_total, 1, __ATOMIC_RELAXED);
}

static void
dialogue(struct session *s, struct conn *c)
{
	char line[MAXLINE];
	int i, r, nmsg = c->c_nmsg;
	uint32_t peer = c->c_peer;

	memcpy(line, "HELO x", 7);
	s->s_state = lookup(line);
	if (!grey_check(peer, __atomic_load_n(&clock_now, __ATOMIC_RELAXED)))
		smtpstat[s->s_id].ss_reply[RC_TEMP]++;
	for (i = 0; i < nmsg; i++) {
		memcpy(line, "MAIL FROM:<a>", 14);
		s->s_state = lookup(line);
		s->s_cmds++;
		smtpstat[s->s_id].ss_cmds++;
		memcpy(line, "RCPT TO:<user>", 15);
		line[9] = 'a' + (s->s_seed++ & 15);
		s->s_state = lookup(line);
		for (r = 0; r < 1 + (i & 1); r++) {
			line[10] = 'a' + r;
			if (!rcpt(s, line + 9, peer))
				break;
			if (r >= rcpt_burst)
				NAP();
		}
		if (s->s_dom != NULL && rate_take(1))
			data(s, peer + i);
		smtpstat[s->s_id].ss_reply[RC_OK]++;
	}
	s->s_state = 0;
}

void *
session_main(void *arg)
{
	struct session *s = arg;
	struct conn *c;
	int id = s->s_id;

	snprintf(hello[id], sizeof(hello[id]), "sess%d", id);
	pthread_barrier_wait(&startgate);
	for (;;) {
		c = conq_get(&conq[id]);
		padstat[id].ps_loops++;
		if (c == NULL) {
			if (__atomic_load_n(&listener_done, __ATOMIC_ACQUIRE) &&
			    (c = conq_get(&conq[id])) == NULL)
				break;
			if (c == NULL) {
				padstat[id].ps_idle++;
				NAP();
				continue;
			}
		}
		__atomic_store_n(&sess_busy[id], 1, __ATOMIC_RELAXED);
		smtpstat[id].ss_conns++;
		dialogue(s, c);
		conn_free(c);
		__atomic_store_n(&sess_busy[id], 0, __ATOMIC_RELAXED);
		if (control.paused)
			NAP();
	}
	if (s->s_dom != NULL)
		domain_unref(s->s_dom);
	__atomic_sub_fetch(&sessions_left, 1, __ATOMIC_RELEASE);
	return (NULL);
}
