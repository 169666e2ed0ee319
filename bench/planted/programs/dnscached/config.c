#include "dnscached.h"
#include <stdlib.h>
#include <string.h>

struct server g_srv __attribute__((aligned(CACHELINE)));

static int apply(const char *key, unsigned long v)
{
	if (strcmp(key, "workers") == 0 && v >= 1 && v <= MAX_WORKERS)
		g_srv.nworkers = (int)v;
	else if (strcmp(key, "port") == 0 && v < 65536)
		g_srv.listen_port = (int)v;
	else if (strcmp(key, "max-ttl") == 0)
		g_srv.max_ttl = (uint32_t)v;
	else if (strcmp(key, "neg-ttl") == 0)
		g_srv.neg_ttl = (uint32_t)v;
	else if (strcmp(key, "minimal-any") == 0)
		g_srv.minimal_any = v != 0;
	else if (strcmp(key, "qname-limit") == 0 && v <= NAME_MAX_LEN)
		g_srv.qname_limit = (uint32_t)v;
	else
		return -1;
	return 0;
}

int config_load(const char *text)
{
	char key[24];
	unsigned long v;
	int n;
	while (sscanf(text, " %23s %lu%n", key, &v, &n) == 2) {
		g_srv.cfg_lines++;
		if (apply(key, v) < 0) {
			fprintf(stderr, "config: bad line '%s %lu'\n", key, v);
			return -1;
		}
		text += n;
	}
	return 0;
}

long load_scale(void)
{
	const char *s = getenv("LOAD");
	long v = s ? strtol(s, NULL, 0) : 0;
	return v > 0 ? v : 260000;
}
