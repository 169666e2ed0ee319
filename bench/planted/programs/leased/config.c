/*	config.c - configuration file	*/

#include "leased.h"
#include <arpa/inet.h>

struct config	 config = { .cf_file = "/etc/leased.conf", .cf_deflease = 3600 };
struct subnet	*subnets;
static int	 lineno, errors;

static int
set_subnet(char *a, char *b)
{
	struct subnet *sn = xcalloc(1, sizeof(*sn));

	sn->sn_addr = ntohl(inet_addr(a));
	sn->sn_mask = 0xffff0000;
	sn->sn_leasetime = b ? strtoul(b, NULL, 10) : config.cf_deflease;
	sn->sn_next = subnets;
	subnets = sn;
	return sn->sn_addr == INADDR_NONE;
}

static int set_user(char *a, char *b)	{ (void)b; strncpy(config.cf_user, a, sizeof(config.cf_user) - 1); return 0; }
static int set_domain(char *a, char *b)	{ (void)b; strncpy(config.cf_domain, a, sizeof(config.cf_domain) - 1); return 0; }
static int set_lease(char *a, char *b)	{ (void)b; config.cf_deflease = strtoul(a, NULL, 10); return 0; }
static int set_max(char *a, char *b)	{ (void)b; config.cf_maxlease = strtoul(a, NULL, 10); return 0; }
static int set_probe(char *a, char *b)	{ (void)b; config.cf_probewait = strtoul(a, NULL, 10); return 0; }
static int set_clients(char *a, char *b){ (void)b; config.cf_nclient = strtoul(a, NULL, 10); return config.cf_nclient == 0; }

static struct keyword {
	const char	*kw_name;
	int		(*kw_set)(char *, char *);
} keywords[] = {
	{ "user",	set_user },
	{ "domain",	set_domain },
	{ "lease",	set_lease },
	{ "maxlease",	set_max },
	{ "probewait",	set_probe },
	{ "clients",	set_clients },
	{ "subnet",	set_subnet },
	{ NULL,		NULL }
};

int
config_parse(const char *text)
{
	char line[128], *word[3], *p, *last;
	struct keyword *kw;
	size_t n;
	int i;

	for (; *text; text += n + (text[n] == '\n')) {
		n = strcspn(text, "\n");
		if (n >= sizeof(line))
			return -1;
		memcpy(line, text, n);
		line[n] = '\0';
		lineno++;
		for (i = 0, p = line; i < 3; i++, p = NULL)
			if ((word[i] = strtok_r(p, " \t", &last)) == NULL)
				break;
		if (i == 0)
			continue;
		for (kw = keywords; kw->kw_name; kw++)
			if (strcmp(kw->kw_name, word[0]) == 0)
				break;
		if (kw->kw_name == NULL || i < 2 || kw->kw_set(word[1], i > 2 ? word[2] : NULL) != 0) {
			note("%s:%d: syntax error", config.cf_file, lineno);
			errors++;
		}
	}
	return errors;
}
