/*
 * lpspool - line printer spooler.
 *
 * Clients drop jobs into the spool queues, filters turn the text into
 * raster bands, one device thread drives every printer, and the
 * accountant charges the users.  Everything lives in one process; the
 * "printers" are memory, so that the whole thing can be run as a test.
 */
#ifndef LPSPOOL_H
#define LPSPOOL_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <pthread.h>

#define NCLIENT		2
#define NFILTER		2
#define NPRINTER	3
#define NUSER		9
#define NJOB		48
#define NBAND		64
#define LINELEN		20
#define MAXLINES	4
#define GLYPHROWS	2
#define FIRSTCH		32
#define NGLYPH		64

/* job states */
#define JS_FREE		0
#define JS_QUEUED	1
#define JS_RASTER	2
#define JS_DONE		3

/* banner styles */
#define BN_NONE		0
#define BN_SHORT	1
#define BN_LONG		2

struct job {
	struct job	*j_next;
	int		 j_state;
	int		 j_class;
	int		 j_user;
	int		 j_nlines;
	unsigned	 j_number;
	char		 j_text[MAXLINES][LINELEN];
};

/*
 * A spool queue, one for each class of paper.  sq_lock guards the list;
 * the totals behind it belong to whoever counts them.
 */
struct spoolq {
	pthread_mutex_t	 sq_lock;
	pthread_cond_t	 sq_more;
	struct job	*sq_first;
	struct job	**sq_last;
	int		 sq_length;
	int		 sq_closed;
	int		 sq_paper;	/* width in columns, fixed */
	int		 sq_banner;	/* banner style, fixed */
	unsigned long	 sq_lines;	/* lines taken by its filter */
	unsigned long	 sq_blank;	/* blank cells seen by its filter */
};

/* One band of raster on its way to a printer. */
struct band {
	unsigned	 b_sum;
	unsigned short	 b_user;
	unsigned char	 b_last;
	unsigned char	 b_ink;
};

/*
 * A printer.  The filters fill the ring, the device thread empties it.
 */
struct printer {
	const char	*pr_name;
	int		 pr_cols;
	int		 pr_speed;
	unsigned	 pr_toner;	/* device */
	unsigned	 pr_pages;	/* device */
	unsigned	 pr_fed;	/* device */
	pthread_mutex_t	 pr_lock;	/* ring, both sides */
	unsigned	 pr_rhead;
	unsigned	 pr_rtail;
	struct band	 pr_ring[NBAND];
	unsigned	 pr_stalled;	/* filters, full ring; seldom */
};

/* A user, charged by the accountant, counted by the clients. */
struct user {
	char		 us_name[8];
	unsigned	 us_rate;	/* fixed */
	unsigned	 us_quota;	/* fixed */
	unsigned	 us_jobs[NCLIENT];
	unsigned	 us_printed;	/* device thread */
	unsigned	 us_charge;	/* accountant */
};

/* What each filter has done. */
struct fstat {
	uint32_t	 fs_jobs;
	uint32_t	 fs_cells;
	uint16_t	 fs_lastuser;
	uint16_t	 fs_longest;
};

struct config {
	unsigned	 cf_jobs;
	int		 cf_banner;
	int		 cf_burst;
	int		 cf_trace;
	unsigned	 cf_seed;
	unsigned	 cf_tick;
};

struct glyph {
	uint8_t		 g_row[GLYPHROWS];
	uint32_t	 g_used;
};

/* conf.c */
extern struct config	conf;
void	 conf_default(void);
int	 conf_args(int, char **);

/* queue.c */
extern struct spoolq	spools[NFILTER];
void	 queue_init(void);
struct job *job_get(void);
void	 job_put(struct job *);
void	 queue_add(struct spoolq *, struct job *);
struct job *queue_take(struct spoolq *);
void	 queue_close(struct spoolq *);
void	 queue_status(FILE *);

/* client.c */
extern unsigned long	submitted, resubmitted;
void	*client_main(void *);
void	 client_report(FILE *);

/* font.c */
extern struct glyph	font[NGLYPH];
void	 font_init(void);
unsigned font_row(int, int);
void	 font_hit(int);

/* filter.c */
extern struct fstat	fstats[NFILTER];
extern unsigned char	filter_busy[NFILTER];
void	*filter_main(void *);
void	 filter_report(FILE *);

/* device.c */
extern struct printer	*printers[NPRINTER];
extern unsigned		 feeds;
extern int		 dev_running;
void	 device_init(void);
int	 printer_feed(struct printer *, const struct band *);
void	*device_main(void *);
unsigned device_report(FILE *);
void	 device_stop(void);

/* acct.c */
extern struct user	*users[NUSER];
void	 acct_init(void);
void	*acct_main(void *);
void	 acct_stop(void);
unsigned acct_report(FILE *);

/* util.c */
void	*emalloc(size_t);
void	 note(const char *, int);
void	 note_dump(FILE *);
void	 fatal(const char *) __attribute__((noreturn));
void	 nap(void);
uint32_t rnd(uint32_t *);

#endif
