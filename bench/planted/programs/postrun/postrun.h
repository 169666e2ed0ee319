/* postrun - a small store-and-forward mail daemon.  See COPYING. */
#ifndef POSTRUN_H
#define POSTRUN_H

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MAXSESS		4	/* session threads */
#define MAXRUN		2	/* queue runners */
#define CONQ_SIZE	64
#define MAXLINE		96
#define NGREY		512
#define NDOMAIN		32
#define NMBOX		16

#define D_CONN		1
#define D_QUEUE		2
#define DPRINTF(lvl, ...) do { if (debug_flags & (lvl)) logit(__VA_ARGS__); } while (0)
#define NAP()		usleep(40)

/* reply classes, indices of counters */
enum { RC_OK, RC_TEMP, RC_PERM, RC_NCLASS };

struct conn {
	struct conn	*c_next;
	uint32_t	 c_peer;
	uint16_t	 c_nmsg;
	uint16_t	 c_flags;
};

struct domain {				/* recipient domain, shared by everyone */
	struct domain	*d_next;
	uint32_t	 d_hash;
	uint16_t	 d_policy;
	uint16_t	 d_relay;
	int		 d_refs;
	char		 d_name[20];
};

struct msg {
	struct msg	*m_next;
	struct domain	*m_dom;
	uint32_t	 m_qid;
	uint32_t	 m_size;
	uint32_t	 m_sum;
	uint16_t	 m_mbox;
	uint16_t	 m_tries;
};

/* what a session thread counts for itself */
struct smtpstat {
	uint32_t	ss_conns;
	uint32_t	ss_cmds;
	uint32_t	ss_msgs;
	uint32_t	ss_reply[RC_NCLASS];
};

struct session {
	int		 s_id;
	int		 s_state;
	uint32_t	 s_seed;
	uint32_t	 s_cmds;
	struct domain	*s_dom;
};

struct runner {
	int		 r_id;
	int		 r_batch;
	uint32_t	 r_done;
	uint32_t	 r_bytes;
};

struct conq {				/* listener to one session thread */
	uint32_t	 q_head;
	uint32_t	 q_tail;
	struct conn	*q_slot[CONQ_SIZE];
};

struct spool {				/* messages waiting for a runner */
	pthread_mutex_t	 sp_lock;
	struct msg	*sp_first;
	struct msg	**sp_last;
	uint32_t	 sp_len;
	uint32_t	 sp_highwater;
	uint64_t	 sp_scans;	/* polls by runners, not locked */
	uint64_t	 sp_mask;
};

struct mbox {
	uint32_t	mb_count;
	uint32_t	mb_bytes;
	uint32_t	mb_uid;
	uint32_t	mb_sum;
};

struct greyent {
	uint32_t	g_peer;
	uint32_t	g_seen;
	uint16_t	g_passed;
	uint16_t	g_age;
};

struct limits {				/* read from postrun.conf */
	int	max_rcpt;
	int	max_size;
	int	max_conn;
	int	grey_delay;
	char	banner[64];
};

struct control {
	int		stop;
	int		paused;
	uint64_t	ticks;		/* housekeeper only */
	uint64_t	reports;
};

/* bookkeeping that is on lines of its own */
struct padstat {
	uint64_t	ps_loops;
	uint64_t	ps_idle;
	char		ps_pad[48];
} __attribute__((aligned(64)));

/* globals.c */
extern int		 debug_flags;
extern struct limits	 limits;
extern struct control	 control;
extern uint32_t		 clock_now;
extern int		 rcpt_burst;
extern const char	*spool_dir;
extern uint32_t		 conns_total;
extern uint32_t		 msgs_total;
extern uint32_t		 delivered_total;
extern char		 sess_busy[MAXSESS];
extern struct smtpstat	 smtpstat[MAXSESS];
extern struct conq	 conq[MAXSESS];
extern struct padstat	 padstat[MAXSESS + MAXRUN];
extern int		 listener_done, sessions_left;
extern int		 n_oom, n_badcmd, n_badqid;
extern char		 hello[MAXSESS + MAXRUN][16];
extern pthread_barrier_t startgate;
extern volatile int	 got_hup;

/* conn.c */
void	*listener(void *);
struct conn *conq_get(struct conq *);
void	 conn_free(struct conn *);
extern uint32_t	rounds;

/* smtp.c */
void	*session_main(void *);
struct session *session_new(int);
int	 grey_check(uint32_t, uint32_t);
int	 rate_take(int);
void	 rate_refill(uint32_t);
void	 grey_sweep(uint32_t);

/* domain.c */
void	 domain_init(void);
struct domain *domain_ref(uint32_t);
void	 domain_unref(struct domain *);

/* spool.c */
void	 spool_init(void);
struct msg *msg_new(void);
void	 msg_free(struct msg *);
void	 spool_put(struct msg *);
struct msg *spool_get(void);
uint32_t new_qid(void);

/* deliver.c */
void	*runner_main(void *);
struct runner *runner_new(int);
void	 mbox_report(FILE *);

/* house.c */
void	*house_main(void *);
void	 logit(const char *, ...);
void	*xmalloc(size_t);

#endif
