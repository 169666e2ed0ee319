/*	leased.h - address lease daemon, common definitions	*/

#ifndef _LEASED_H_
#define _LEASED_H_

#include <sys/types.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAXSERVER	4
#define MAXRELAY	4
#define NMSGTYPE	8
#define NBUCKET		8
#define JRSIZE		32
#define WINDOW		24

#define MSG_DISCOVER	1
#define MSG_REQUEST	3
#define MSG_RELEASE	7
#define MSG_INFORM	6

/* packets as they come from a relay agent */
struct packet {
	struct packet	*pk_next;
	struct relay	*pk_relay;
	u_int32_t	 pk_xid;
	u_char		 pk_type;
	u_char		 pk_optlen;
	u_char		 pk_hw[6];
	in_addr_t	 pk_giaddr;
	u_char		 pk_opts[28];
};

struct subnet {
	in_addr_t	 sn_addr;
	in_addr_t	 sn_mask;
	u_int32_t	 sn_leasetime;
	u_int32_t	 sn_offers;
	u_int32_t	 sn_acks;
	u_int32_t	 sn_releases;
	struct subnet	*sn_next;
};

struct lease {
	struct lease	*ls_hash;
	u_char		 ls_hw[6];
	u_int16_t	 ls_flags;
	in_addr_t	 ls_addr;
	u_int32_t	 ls_expiry;
	u_int32_t	 ls_renewals;
	u_int32_t	 ls_probed;
	u_int32_t	 ls_rtt;
	struct lease	*ls_all;
};

struct iface {
	char		 if_name[16];
	int		 if_unit;
	in_addr_t	 if_addr;
	u_int		 if_maxq;
	u_int		 if_qlen;
	struct packet	*if_head;
	struct packet	*if_last;
	pthread_mutex_t	 if_lock;
	pthread_cond_t	 if_wait;
	u_int32_t	 if_ipackets;
	u_int32_t	 if_opackets;
	struct subnet	*if_subnet;
};

struct relay {
	int		 rl_id;
	u_int32_t	 rl_seed;
	u_int32_t	 rl_sent;
	u_int32_t	 rl_answers;
	u_int32_t	 rl_naks;
	u_int32_t	 rl_spins;
};

/* what each server keeps for itself */
struct srvstats {
	u_int32_t	 ss_msgs[NMSGTYPE];
	u_int32_t	 ss_hits;
	u_int32_t	 ss_unknown;
	u_int32_t	 ss_lasttype;
};

typedef int (*msg_handler)(struct iface *, struct packet *, struct lease *);
typedef void (*timeout_fn)(void *);

/* main.c */
extern int		 nserver, nrelay, debug;
extern volatile int	 shutting_down;
extern int		 relays_running;

/* config.c */
struct config {
	char		 cf_file[64];
	char		 cf_user[32];
	u_int32_t	 cf_deflease;
	u_int32_t	 cf_maxlease;
	u_int32_t	 cf_probewait;
	u_int32_t	 cf_nclient;
	char		 cf_domain[64];
};
extern struct config	 config;
extern struct subnet	*subnets;
int	 config_parse(const char *);

/* server.c */
extern struct iface	*ifaces[MAXSERVER];
extern struct srvstats	 srvstats[MAXSERVER];
void	 server_init(void);
void	 handler_register(int, const char *, msg_handler);
void	*server_thread(void *);
void	 iface_put(struct iface *, struct packet *);
void	 server_report(void);

/* lease.c */
void	 lease_init(void);
struct lease *lease_find(const u_char *);
int	 lease_extend(struct lease *, u_int32_t);
void	*probe_thread(void *);
void	 lease_report(void);

/* options.c */
void	 options_init(void);
int	 options_scan(const struct packet *, u_int32_t *);
void	 options_report(void);

/* timer.c */
extern volatile u_int32_t cur_time;
void	 timeout_add(timeout_fn, void *, int);
void	*timer_thread(void *);

/* journal.c */
struct jrec {
	u_int32_t	 jr_when;
	in_addr_t	 jr_addr;
	u_int32_t	 jr_what;
};
int	 journal_put(int, in_addr_t, int);
void	*journal_thread(void *);
void	 journal_report(void);

/* relay.c */
struct packet *packet_get(void);
void	 packet_put(struct packet *);
void	 packet_init(int);
struct relay *relay_new(int);
void	*relay_thread(void *);
u_int32_t relay_report(void);

/* util.c */
void	 note(const char *, ...);
void	*xcalloc(size_t, size_t);

#endif
