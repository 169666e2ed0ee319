/*
 * Configuration: read once before any thread starts.
 */
#include "lpspool.h"

struct config	conf;
static int	conf_lines;	/* lines of defaults taken */

static const struct {
	const char	*key;
	int		 value;
} defaults[] = {
	{ "banner",	BN_SHORT },
	{ "burst",	3 },
	{ "trace",	0 },
	{ "tick",	7 },
	{ NULL,		0 }
};

void
conf_default(void)
{
	int i;

	for (i = 0; defaults[i].key != NULL; i++) {
		conf_lines++;
		if (strcmp(defaults[i].key, "banner") == 0)
			conf.cf_banner = defaults[i].value;
		else if (strcmp(defaults[i].key, "burst") == 0)
			conf.cf_burst = defaults[i].value;
		else if (strcmp(defaults[i].key, "trace") == 0)
			conf.cf_trace = defaults[i].value;
		else
			conf.cf_tick = (unsigned)defaults[i].value;
	}
	conf.cf_jobs = 130000;
	conf.cf_seed = 19;
}

int
conf_args(int argc, char **argv)
{
	long n;
	char *end;

	if (argc < 2)
		return 0;
	n = strtol(argv[1], &end, 10);
	if (*end != '\0' || n <= 0)
		return -1;
	conf.cf_jobs = (unsigned)n;
	return conf_lines;
}
