/*
 * Filters: text in, raster bands out.
 */
#include "lpspool.h"

struct fstat		fstats[NFILTER];
unsigned char		filter_busy[NFILTER];

/*
 * Where each filter draws.  Nobody else looks at it, and each has cache
 * lines of its own.
 */
static struct canvas {
	uint32_t	cv_row[GLYPHROWS];
	uint32_t	cv_carry;
} __attribute__((aligned(64))) canvas[NFILTER];

static unsigned		banner_ink[NFILTER];

static unsigned
banner(struct spoolq *sq, struct job *j, int who)
{
	unsigned ink;

	if (sq->sq_banner == BN_NONE)
		return 0;
	ink = j->j_number * 2654435761u >> 20;
	if (sq->sq_banner == BN_LONG)
		ink += ink >> 3;
	banner_ink[who] += ink;
	return ink;
}

static unsigned
raster_line(struct spoolq *sq, struct canvas *cv, const char *text)
{
	unsigned sum = 0, w;
	int i, r;

	for (i = 0; i < sq->sq_paper; i++) {
		if (text[i] == ' ') {
			sq->sq_blank++;
			continue;
		}
		for (r = 0; r < GLYPHROWS; r++) {
			w = font_row(text[i], r);
			cv->cv_row[r] = cv->cv_row[r] * 31 + w + cv->cv_carry;
			cv->cv_carry = cv->cv_row[r] >> 29;
			sum += cv->cv_row[r] & 0xffff;
		}
	}
	font_hit(text[0]);
	sq->sq_lines++;
	return sum;
}

void *
filter_main(void *arg)
{
	int who = (int)(intptr_t)arg;
	struct spoolq *sq = &spools[who];
	struct canvas *cv = &canvas[who];
	struct fstat *fs = &fstats[who];
	struct printer *pr;
	struct band b;
	struct job *j;
	int i;

	while ((j = queue_take(sq)) != NULL) {
		filter_busy[who] = 1;
		memset(cv, 0, sizeof *cv);
		pr = printers[j->j_user % NPRINTER];
		memset(&b, 0, sizeof b);
		b.b_sum = banner(sq, j, who);
		b.b_user = (unsigned short)j->j_user;
		for (i = 0; i < j->j_nlines; i++) {
			b.b_sum ^= raster_line(sq, cv, j->j_text[i]);
			b.b_ink = (unsigned char)(b.b_sum >> 4);
			b.b_last = (unsigned char)(i == j->j_nlines - 1);
			fs->fs_cells += (uint32_t)sq->sq_paper;
			while (printer_feed(pr, &b) != 0)
				nap();
		}
		fs->fs_jobs++;
		fs->fs_lastuser = b.b_user;
		if (fs->fs_longest < j->j_nlines)
			fs->fs_longest = (uint16_t)j->j_nlines;
		j->j_state = JS_DONE;
		job_put(j);
		filter_busy[who] = 0;
	}
	return NULL;
}

void
filter_report(FILE *fp)
{
	int i;

	for (i = 0; i < NFILTER; i++)
		fprintf(fp, "filter %d: %u jobs, %u cells, longest %u, banner %u\n",
		    i, fstats[i].fs_jobs, fstats[i].fs_cells,
		    fstats[i].fs_longest, banner_ink[i]);
}
