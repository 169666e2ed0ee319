/*
 * Spool queues and the pool of job structures.
 */
#include "lpspool.h"

struct spoolq	spools[NFILTER];

/*
 * The pool.  poolmtx guards the free list and its counters together.
 */
static pthread_mutex_t	poolmtx = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t	poolcond = PTHREAD_COND_INITIALIZER;
static struct job	*jobfree;
static unsigned		 jobsout;
static unsigned		 jobspeak;

/*
 * Deepest queue seen, kept by the clients after they let go of the lock
 * (a hint only), and the longest job by the filters.
 */
static int		depth_hint;
static int		lines_hint;

static const int	papers[NFILTER] = { LINELEN, LINELEN - 4 };

void
queue_init(void)
{
	struct job *all;
	int i;

	all = emalloc(NJOB * sizeof(struct job));
	for (i = 0; i < NJOB; i++) {
		all[i].j_state = JS_FREE;
		all[i].j_next = jobfree;
		jobfree = &all[i];
	}
	for (i = 0; i < NFILTER; i++) {
		struct spoolq *sq = &spools[i];

		pthread_mutex_init(&sq->sq_lock, NULL);
		pthread_cond_init(&sq->sq_more, NULL);
		sq->sq_last = &sq->sq_first;
		sq->sq_paper = papers[i];
		sq->sq_banner = conf.cf_banner;
	}
}

struct job *
job_get(void)
{
	struct job *j;

	pthread_mutex_lock(&poolmtx);
	while (jobfree == NULL)
		pthread_cond_wait(&poolcond, &poolmtx);
	j = jobfree;
	jobfree = j->j_next;
	jobsout++;
	if (jobsout > jobspeak)
		jobspeak = jobsout;
	pthread_mutex_unlock(&poolmtx);
	j->j_next = NULL;
	return j;
}

void
job_put(struct job *j)
{
	pthread_mutex_lock(&poolmtx);
	j->j_state = JS_FREE;
	j->j_next = jobfree;
	jobfree = j;
	jobsout--;
	pthread_cond_signal(&poolcond);
	pthread_mutex_unlock(&poolmtx);
}

void
queue_add(struct spoolq *sq, struct job *j)
{
	int depth;

	j->j_state = JS_QUEUED;
	pthread_mutex_lock(&sq->sq_lock);
	*sq->sq_last = j;
	sq->sq_last = &j->j_next;
	depth = ++sq->sq_length;
	if (sq->sq_length == 1)
		pthread_cond_signal(&sq->sq_more);
	pthread_mutex_unlock(&sq->sq_lock);

	if (depth > 1)
		__atomic_fetch_add(&depth_hint, depth, __ATOMIC_RELAXED);
	else
		__atomic_fetch_sub(&depth_hint, 1, __ATOMIC_RELAXED);
}

struct job *
queue_take(struct spoolq *sq)
{
	struct job *j;

	pthread_mutex_lock(&sq->sq_lock);
	while (sq->sq_first == NULL && !sq->sq_closed)
		pthread_cond_wait(&sq->sq_more, &sq->sq_lock);
	j = sq->sq_first;
	if (j != NULL) {
		sq->sq_first = j->j_next;
		if (sq->sq_first == NULL)
			sq->sq_last = &sq->sq_first;
		sq->sq_length--;
	}
	pthread_mutex_unlock(&sq->sq_lock);
	if (j != NULL) {
		j->j_state = JS_RASTER;
		j->j_next = NULL;
		__atomic_fetch_add(&lines_hint, j->j_nlines, __ATOMIC_RELAXED);
	}
	return j;
}

void
queue_close(struct spoolq *sq)
{
	pthread_mutex_lock(&sq->sq_lock);
	sq->sq_closed = 1;
	pthread_cond_broadcast(&sq->sq_more);
	pthread_mutex_unlock(&sq->sq_lock);
}

/* lpq: only when the operator asks, and at the end. */
void
queue_status(FILE *fp)
{
	int i;

	for (i = 0; i < NFILTER; i++)
		fprintf(fp, "spool %d: paper %d, %lu lines, %lu blank\n", i,
		    spools[i].sq_paper, spools[i].sq_lines, spools[i].sq_blank);
	fprintf(fp, "lines hint %d\n", lines_hint);
	if (jobspeak > NJOB)
		note("job pool overrun", (int)jobspeak);
	if (conf.cf_trace)
		fprintf(fp, "depth hint %d\n", depth_hint);
}
