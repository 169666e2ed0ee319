#include "silt.h"
#include <unistd.h>

int main(int argc, char **argv)
{
	static struct options options = { .wal_size = 4096, .compact_at = 3, .verify = true };
	unsigned ops = 20000;
	struct silt *db;
	int opt, rc;

	while ((opt = getopt(argc, argv, "n:c:")) != -1)
		switch (opt) {
		case 'n': ops = (unsigned)atoi(optarg); break;
		case 'c': options.compact_at = (unsigned)atoi(optarg); break;
		default:
			fprintf(stderr, "usage: %s [-n ops] [-c runs]\n", argv[0]);
			return 2;
		}
	db = silt_open(&options);
	if (services_start(db)) {
		perror("threads");
		return 1;
	}
	rc = workload_run(db, ops, stdout);
	services_stop();
	services_report(stdout);
	tickers_report(stdout);
	printf("cache %s\n", cache_used() ? "used" : "empty");
	silt_close(db);
	if (rc)
		fprintf(stderr, "operations are missing\n");
	return rc ? 1 : 0;
}
