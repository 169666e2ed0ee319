#include "ls.h"

/* metrics come one behind the other from a small arena */
static char arena[4096] __attribute__((aligned(LINE)));
static size_t arena_used;
static struct metric *metrics;
static pthread_mutex_t reg_mu = PTHREAD_MUTEX_INITIALIZER;

static struct rule rules[NRULES] __attribute__((aligned(LINE)));
static int nrules __attribute__((aligned(LINE)));
static unsigned long bad_rules;

/* lines by source and level, both taken from the line */
static uint32_t level_count[NTAIL][4] __attribute__((aligned(LINE)));

struct metric *metric_new(const char *name)
{
	struct metric *m = NULL;
	pthread_mutex_lock(&reg_mu);
	if (arena_used + sizeof *m <= sizeof arena) {
		m = (struct metric *)(arena + arena_used);
		arena_used += sizeof *m;
		m->name = name;
		m->next = metrics;
		metrics = m;
	}
	pthread_mutex_unlock(&reg_mu);
	return m;
}

void metric_add(struct metric *m, uint64_t n)
{
	__atomic_store_n(&m->value, m->value + n, __ATOMIC_RELAXED);
}

void metrics_print(FILE *f)
{
	pthread_mutex_lock(&reg_mu);
	for (struct metric *m = metrics; m; m = m->next)
		fprintf(f, "%s %lu\n", m->name, (unsigned long)m->value);
	pthread_mutex_unlock(&reg_mu);
}

int rules_load(const char *text)
{
	char prefix[8];
	unsigned level;
	int n;
	while (nrules < NRULES && sscanf(text, " %7s %u%n", prefix, &level, &n) == 2) {
		if (level > 7) {
			bad_rules++;
			fprintf(stderr, "rules: bad level %u\n", level);
			return -1;
		}
		memcpy(rules[nrules].prefix, prefix, sizeof prefix);
		rules[nrules++].min_level = level;
		text += n;
	}
	return nrules > 0 ? 0 : -1;
}

const struct rule *rule_match(const struct line *l)
{
	level_count[l->source][l->level & 3]++;
	for (int i = 0; i < nrules; i++) {
		struct rule *r = &rules[i];
		if (r->prefix[0] != l->text[0] || l->level < r->min_level)
			continue;
		__atomic_fetch_add(&r->hits, 1, __ATOMIC_RELAXED);
		return r;
	}
	return NULL;
}

void rules_print(FILE *f)
{
	for (int i = 0; i < nrules; i++)
		fprintf(f, "rule %.7s: %u hits\n", rules[i].prefix, rules[i].hits);
	for (int i = 0; i < NTAIL; i++)
		fprintf(f, "levels %u %u %u %u\n", level_count[i][0], level_count[i][1],
			level_count[i][2], level_count[i][3]);
}
