/* globals.c - everything that everybody looks at */
#include "postrun.h"

int		 debug_flags = 0;
uint32_t	 clock_now = 1;		/* coarse clock, the housekeeper moves it */
int		 rcpt_burst = 3;	/* recipients before a session is slowed */
const char	*spool_dir = "/var/spool/postrun";

struct limits	 limits;
struct control	 control;
uint32_t	 conns_total;		/* the listener's */
uint32_t	 msgs_total;		/* sessions, atomic */
uint32_t	 delivered_total;	/* runners, atomic */
char		 sess_busy[MAXSESS];
struct smtpstat	 smtpstat[MAXSESS];
struct conq	 conq[MAXSESS];
struct padstat	 padstat[MAXSESS + MAXRUN];
int		 listener_done, sessions_left = MAXSESS;
int		 n_oom, n_badcmd, n_badqid;
char		 hello[MAXSESS + MAXRUN][16];
pthread_barrier_t startgate;
volatile int	 got_hup;
