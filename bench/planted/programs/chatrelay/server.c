/* The threads of the relay. */
#include "relay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *const phrases[] = { "hello there", "what now", "see the log", "not again", "ship it", "who broke it" };

/* Filled before the start line by one session thread each, read by the other afterwards. */
static uint32_t greeting[NSESS];

static uint32_t score_text(const char *text, unsigned len)
{
	uint32_t h = 5381;

	for (unsigned i = 0; i < len; i++)
		h = h * 33 + (unsigned char)text[i];
	return h;
}

static unsigned say(char *to, uint32_t x)
{
	unsigned n = 0;

	for (int k = 0; k < 2; k++) {
		const char *p = phrases[(x >> (k * 8)) % (sizeof phrases / sizeof *phrases)];
		while (*p && n < BODY - 12)
			to[n++] = *p++;
		to[n++] = ' ';
	}
	do {
		to[n++] = (char)('0' + x % 10);
		x /= 10;
	} while (x > 99999 && n < BODY - 1);
	return n;
}

struct part {
	struct server *srv;
	int number;
};

static int session_main(void *arg)
{
	struct part *me = arg;
	struct server *s = me->srv;
	tally_t *tally = s->tallies[me->number];
	uint32_t x = 1234567u * (uint32_t)(me->number + 1);
	unsigned turns = 0;

	for (int i = 0; i < 20; i++)
		greeting[me->number] = greeting[me->number] * 3 + x % 7;
	startline_cross(&s->line);
	x += greeting[(me->number + 1) % NSESS];

	for (long i = 0; i < s->rounds; i++) {
		/* The sessions of the threads take turns in the array. */
		struct session *ss = &s->sessions[(i % PER_THREAD) * NSESS + me->number];
		msg_t *m;

		while (!(m = msgpool_take(&s->pool)))
			thr_relax(&turns);
		x = x * 1664525u + 1013904223u;
		user_t *u = user_get(ss->user);
		if (!u) {
			drop_unknown++;
			msgpool_give(&s->pool, m);
			log_line(L_WARN, "no user %u", ss->user);
			continue;
		}
		m->from = u->id;
		m->room = (x >> 12) % NROOMS;
		m->kind = (uint16_t)(u->rank > 3);
		m->len = (uint16_t)say(m->body, x >> 4);
		if (m->len > s->max_body) {
			drop_oversize++;
			m->len = (uint16_t)s->max_body;
		}
		uint32_t score = s->hooks.filter(m->body, m->len);
		if (score < s->hooks.limit)
			ss->state ^= 1;
		if ((i & 3) == 0)
			atomic_fetch_add_explicit(&s->hooks.calls, 1, memory_order_relaxed);
		if ((score & 7) == 0)
			strikes[u->id]++;
		m->seq = atomic_fetch_add_explicit(&s->seq, 1, memory_order_relaxed);
		ss->sent++;
		tally->words += 2 + (score & 1);
		tstat_in(m->len);
		user_put(u);

		inbox_t *b = &s->inboxes[(i + me->number) % NRELAY];
		while (atomic_load_explicit(&b->paused, memory_order_relaxed))
			thr_relax(&turns);
		inbox_put(b, m);
		if ((i & 15) == 15)
			thr_relax(&turns);
	}
	tally->turns = turns;
	return 0;
}

static int relay_main(void *arg)
{
	struct part *me = arg;
	struct server *s = me->srv;
	tally_t *tally = s->tallies[NSESS + me->number];
	unsigned turns = 0;

	startline_cross(&s->line);
	for (long i = 0; i < s->rounds * NSESS / NRELAY; i++) {
		msg_t *m;

		while (!(m = inbox_get(&s->inboxes[me->number])))
			thr_relax(&turns);
		if (atomic_load_explicit(&s->control->draining, memory_order_relaxed))
			drop_closed++;
		room_t *r = rooms[(m->room & ~1u) | (uint32_t)me->number];
		const user_t *u = user_peek(m->from);
		if (m->len == 0 || m->len > s->max_body || !u) {
			drop_oversize++;
			log_line(L_WARN, "bad message %u", m->seq);
			msgpool_give(&s->pool, m);
			continue;
		}
		room_relay(r, m);
		tstat_out(m->len * s->fanout);
		lanectrs[thr_slot].events++;
		lanectrs[thr_slot].weight += u->rank;
		tally->words++;
		if ((i & 1) == 0)
			notes_put(&s->notes[me->number], (uint8_t)r->id);
		if ((i & 3) == 0 && s->wheel.slots[m->seq & s->wheel.mask] > 250)
			s->control->skips++;
		if (s->hooks.flags & 1)
			log_line(L_TRACE, "room %u", r->id);
		if (log_mask & L_TRACE)
			log_line(L_TRACE, "relayed %u", m->seq);
		msgpool_give(&s->pool, m);
	}
	tally->turns = turns;
	return 0;
}

/* Keeps the time, marks rooms as seen, gives quotas. */
static int watch_main(void *arg)
{
	struct part *me = arg;
	struct server *s = me->srv;
	struct timespec since;
	unsigned turns = 0;
	uint32_t x = 3;
	struct {
		unsigned long notes;
		unsigned long empty;
	} own = { 0, 0 };

	clock_gettime(CLOCK_MONOTONIC, &since);
	startline_cross(&s->line);
	for (long i = 0; i < s->rounds * 2; i++) {
		for (int k = 0; k < 30; k++)
			x = (x ^ (x >> 7)) * 2246822519u + (uint32_t)k;
		s->control->beat++;
		if ((i & 1) == 0)
			atomic_fetch_add_explicit(&s->wheel.now, 1, memory_order_relaxed);
		for (int k = 0; k < NRELAY; k++) {
			int room = notes_get(&s->notes[k]);
			if (room >= 0) {
				atomic_fetch_add_explicit(&rooms[room]->seen, 1, memory_order_relaxed);
				own.notes++;
			} else {
				own.empty++;
			}
		}
		if ((i & 3) == 0)
			atomic_store_explicit(&s->pool.quota, 16 + (x & 63), memory_order_relaxed);
		if ((i & 3) == 1)
			atomic_store_explicit(&s->inboxes[x & 1].paused, 0, memory_order_relaxed);
		lanectrs[thr_slot].events++;
		if ((i & 4095) == 4095) {
			struct timespec now;
			clock_gettime(CLOCK_MONOTONIC, &now);
			if (now.tv_sec > since.tv_sec + 1) {
				since = now;
				log_line(L_TRACE, "%lu notes", own.notes);
			}
		}
		if ((i & 15) == 15)
			thr_relax(&turns);
	}
	lanectrs[thr_slot].weight = own.notes + own.empty;
	return 0;
}

static int server_init(struct server *s, long rounds)
{
	s->max_body = BODY - 2;
	s->fanout = 3;
	s->trace_every = 0;
	s->rounds = rounds;
	s->hooks.filter = score_text;
	s->hooks.limit = 1u << 30;
	s->wheel.mask = 255;
	s->wheel.slots = aligned_alloc(CLINE, 256);
	s->sessions = aligned_alloc(CLINE, (NSESS * PER_THREAD * sizeof *s->sessions + CLINE - 1) / CLINE * CLINE);
	s->control = aligned_alloc(CLINE, CLINE);
	if (!s->wheel.slots || !s->sessions || !s->control || msgpool_init(&s->pool, 64) < 0)
		return -1;
	memset(s->wheel.slots, 0, 256);
	memset(s->control, 0, CLINE);
	for (uint32_t i = 0; i < NSESS * PER_THREAD; i++)
		s->sessions[i] = (struct session){ .user = i * 2 % NUSERS };
	for (int i = 0; i < NRELAY; i++)
		inbox_init(&s->inboxes[i]);
	for (int i = 0; i < NSESS + NRELAY; i++) {
		s->tallies[i] = calloc(1, sizeof *s->tallies[i]);
		if (!s->tallies[i])
			return -1;
	}
	return users_init() < 0 || rooms_init() < 0 ? -1 : 0;
}

static void server_report(const struct server *s)
{
	unsigned long sent = 0, relayed = 0, seen = 0, struck = 0;
	uint32_t digest = 0;

	for (int i = 0; i < NSESS * PER_THREAD; i++)
		sent += s->sessions[i].sent;
	for (int i = 0; i < NROOMS; i++) {
		relayed += rooms[i]->messages;
		seen += atomic_load(&rooms[i]->seen);
		digest ^= rooms[i]->digest;
	}
	for (int i = 0; i < NUSERS; i++)
		struck += strikes[i];
	printf("sent %lu, relayed %lu, noted %lu, seq %u, calls %lu, strikes %lu, beat %u, now %u, digest %s\n", sent, relayed, seen,
	       atomic_load(&s->seq), atomic_load(&s->hooks.calls), struck, s->control->beat, atomic_load(&s->wheel.now),
	       digest ? "set" : "empty");
	for (int i = 0; i < NSESS + NRELAY; i++)
		printf("tally %d: %u words\n", i, s->tallies[i]->words);
}

int server_run(struct server *s, long rounds)
{
	thr_t threads[NSESS + NRELAY + 1];
	struct part parts[NSESS + NRELAY + 1];
	int n = 0, rc = 0;

	if (server_init(s, rounds) < 0) {
		log_line(L_ERR, "out of memory");
		return -1;
	}
	startline_init(&s->line, NSESS + NRELAY + 1);
	for (int i = 0; i < NSESS + NRELAY + 1; i++) {
		int (*fn)(void *) = i < NSESS ? session_main : i < NSESS + NRELAY ? relay_main : watch_main;
		const char *name = i < NSESS ? "session" : i < NSESS + NRELAY ? "relay" : "watch";

		parts[n] = (struct part){ .srv = s, .number = i < NSESS ? i : i < NSESS + NRELAY ? i - NSESS : 0 };
		if (thr_spawn(&threads[n], name, i, fn, &parts[n]) < 0) {
			log_close();
			exit(1);	/* the others stand at the start line */
		}
		n++;
	}
	for (int i = 0; i < n; i++)
		rc |= thr_wait(&threads[i]);
	server_report(s);
	tstat_print();
	rooms_free();
	users_free();
	msgpool_free(&s->pool);
	for (int i = 0; i < NSESS + NRELAY; i++)
		free(s->tallies[i]);
	free(s->control);
	free(s->sessions);
	free(s->wheel.slots);
	return rc ? -1 : 0;
}
