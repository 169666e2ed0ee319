#include "options.h"
#include "util.h"

#include <stdlib.h>
#include <unistd.h>

struct options opt = {
	.jobs = 3,
	.targets = 600,
	.rounds = 400,
	.seed = 20011,
};

static int number(const char *s, int lo, int hi, char flag)
{
	char *end;
	long v = strtol(s, &end, 10);

	if (*end || end == s || v < lo || v > hi)
		die("-%c wants a number from %d to %d, not '%s'", flag, lo, hi, s);
	return (int)v;
}

void options_parse(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "j:n:r:s:kv")) != -1) {
		switch (c) {
		case 'j': opt.jobs = number(optarg, 1, 16, 'j'); break;
		case 'n': opt.targets = number(optarg, 16, 4096, 'n'); break;
		case 'r': opt.rounds = number(optarg, 1, 1000, 'r'); break;
		case 's': opt.seed = (unsigned)number(optarg, 1, 1 << 30, 's'); break;
		case 'k': opt.keep_going = 1; break;
		case 'v': opt.verbose++; break;
		default:
			fprintf(stderr, "usage: forge [-j jobs] [-n targets] [-r rounds] [-s seed] [-k] [-v]\n");
			exit(2);
		}
	}
}
