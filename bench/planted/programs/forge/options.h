#ifndef FORGE_OPTIONS_H
#define FORGE_OPTIONS_H

struct options {
	int jobs;		/* -j */
	int targets;		/* -n: size of the synthetic tree */
	int rounds;		/* -r: rebuilds */
	int keep_going;		/* -k */
	int verbose;		/* -v */
	unsigned seed;		/* -s */
};

extern struct options opt;

void options_parse(int argc, char **argv);

#endif
