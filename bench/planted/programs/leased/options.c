/*	options.c - option parsing	*/

#include "leased.h"

struct optdef {
	u_char		 od_code;
	u_char		 od_minlen;
	u_char		 od_maxlen;
	u_char		 od_flags;
	u_int32_t	 od_seen;
};

static struct optdef optdefs[] = {
	{ 12, 1, 16, 0, 0 },		/* host name */
	{ 51, 4, 4, 1, 0 },		/* lease time */
	{ 53, 1, 1, 0, 0 },		/* message type */
	{ 55, 1, 16, 0, 0 },		/* parameter list */
	{ 61, 2, 16, 0, 0 },		/* client id */
};
#define NOPT	(sizeof(optdefs) / sizeof(optdefs[0]))

static u_int32_t	 scans;
static u_int32_t	 strict_mode = 1;
static u_int32_t	 truncated, unknown_opt;
static u_char		 opt_index[64];

void
options_init(void)
{
	u_int i;

	memset(opt_index, 0xff, sizeof(opt_index));
	for (i = 0; i < NOPT; i++)
		opt_index[optdefs[i].od_code] = i;
}

int
options_scan(const struct packet *pk, u_int32_t *leasetime)
{
	const u_char *p = pk->pk_opts, *e = p + pk->pk_optlen;
	struct optdef *od;
	u_char ix;

	__sync_fetch_and_add(&scans, 1);
	*leasetime = 0;
	while (p + 2 <= e) {
		ix = opt_index[p[0] & 63];
		if (ix == 0xff) {
			__sync_fetch_and_add(&unknown_opt, 1);
			if (strict_mode)
				return -1;
			p += 2 + p[1];
			continue;
		}
		od = &optdefs[ix];
		if (p[1] < od->od_minlen || p[1] > od->od_maxlen || p + 2 + p[1] > e) {
			__sync_fetch_and_add(&truncated, 1);
			return -1;
		}
		od->od_seen++;
		if (od->od_flags & strict_mode)
			*leasetime = (u_int32_t)p[2] << 24 | p[3] << 16 | p[4] << 8 | p[5];
		p += 2 + p[1];
	}
	return 0;
}

void
options_report(void)
{
	u_int i;

	printf("options: %u scans, %u truncated, %u unknown\n", scans, truncated, unknown_opt);
	for (i = 0; i < NOPT; i++)
		printf("option %u: %u\n", optdefs[i].od_code, optdefs[i].od_seen);
}
