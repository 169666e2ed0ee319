/*	server.c - one thread for each interface	*/

#include "leased.h"

struct iface	*ifaces[MAXSERVER];
struct srvstats	 srvstats[MAXSERVER];

static struct handler {
	msg_handler	 hd_func;
	const char	*hd_name;
	u_int32_t	 hd_calls;
	u_int32_t	 hd_refused;
} handlers[NMSGTYPE];

static char		 srv_state[MAXSERVER];
static u_int32_t	 total_in, total_out;
static u_int32_t	 badtype, toolong;
static __thread int	 unit;

struct srvclock {
	u_int32_t	 sc_first;
	u_int32_t	 sc_last;
	u_int32_t	 sc_ticks;
} __attribute__((aligned(64)));
static struct srvclock	 srvclock[MAXSERVER];

void
handler_register(int type, const char *name, msg_handler fn)
{
	handlers[type].hd_func = fn;
	handlers[type].hd_name = name;
}

static int
do_discover(struct iface *ifp, struct packet *pk, struct lease *ls)
{
	(void)pk;
	if (ls == NULL)
		return -1;
	__sync_fetch_and_add(&ifp->if_subnet->sn_offers, 1);
	return 1;
}

static int
do_request(struct iface *ifp, struct packet *pk, struct lease *ls)
{
	struct subnet *sn = ifp->if_subnet;
	u_int32_t want = 0;

	if (ls == NULL)
		return -1;
	if (options_scan(pk, &want) < 0)
		return -1;
	if (want == 0 || want > sn->sn_leasetime)
		want = sn->sn_leasetime;
	if ((ls->ls_addr & sn->sn_mask) != (pk->pk_giaddr & sn->sn_mask))
		return -1;
	lease_extend(ls, want);
	__sync_fetch_and_add(&sn->sn_acks, 1);
	journal_put(ifp->if_unit, ls->ls_addr, MSG_REQUEST);
	return 1;
}

static int
do_release(struct iface *ifp, struct packet *pk, struct lease *ls)
{
	(void)pk;
	if (ls == NULL)
		return -1;
	ls->ls_expiry = cur_time;
	ifp->if_subnet->sn_releases++;
	journal_put(ifp->if_unit, ls->ls_addr, MSG_RELEASE);
	return 1;
}

static int
do_inform(struct iface *ifp, struct packet *pk, struct lease *ls)
{
	u_int32_t want;

	(void)ifp;
	(void)ls;
	return options_scan(pk, &want) < 0 ? -1 : 1;
}

void
server_init(void)
{
	struct iface *ifp;
	struct subnet *sn = subnets;
	int i;

	handler_register(MSG_DISCOVER, "discover", do_discover);
	handler_register(MSG_REQUEST, "request", do_request);
	handler_register(MSG_RELEASE, "release", do_release);
	handler_register(MSG_INFORM, "inform", do_inform);
	for (i = 0; i < nserver; i++) {
		ifp = xcalloc(1, sizeof(*ifp));
		snprintf(ifp->if_name, sizeof(ifp->if_name), "em%d", i);
		ifp->if_unit = i;
		ifp->if_maxq = 64;
		ifp->if_subnet = sn;
		ifp->if_addr = sn->sn_addr + 1;
		if (sn->sn_next)
			sn = sn->sn_next;
		pthread_mutex_init(&ifp->if_lock, NULL);
		pthread_cond_init(&ifp->if_wait, NULL);
		ifaces[i] = ifp;
	}
}

void
iface_put(struct iface *ifp, struct packet *pk)
{
	pthread_mutex_lock(&ifp->if_lock);
	if (pk != NULL) {
		pk->pk_next = NULL;
		if (ifp->if_last != NULL)
			ifp->if_last->pk_next = pk;
		else
			ifp->if_head = pk;
		ifp->if_last = pk;
		ifp->if_qlen++;
	}
	pthread_cond_signal(&ifp->if_wait);
	pthread_mutex_unlock(&ifp->if_lock);
}

static struct packet *
iface_get(struct iface *ifp)
{
	struct packet *pk;

	pthread_mutex_lock(&ifp->if_lock);
	while ((pk = ifp->if_head) == NULL && !shutting_down)
		pthread_cond_wait(&ifp->if_wait, &ifp->if_lock);
	if (pk != NULL) {
		if ((ifp->if_head = pk->pk_next) == NULL)
			ifp->if_last = NULL;
		ifp->if_qlen--;
	}
	pthread_mutex_unlock(&ifp->if_lock);
	return pk;
}

static void
answer(struct iface *ifp, struct packet *pk, int rc)
{
	struct relay *rl = pk->pk_relay;

	if (rc < 0)
		__sync_fetch_and_add(&rl->rl_naks, 1);
	ifp->if_opackets++;
	__sync_fetch_and_add(&total_out, 1);
	packet_put(pk);
	__sync_fetch_and_add(&rl->rl_answers, 1);
}

void *
server_thread(void *arg)
{
	struct iface *ifp;
	struct srvstats *ss;
	struct handler *hd;
	struct packet *pk;
	struct lease *ls;
	int rc;

	unit = (int)(long)arg;
	ifp = ifaces[unit];
	srvclock[unit].sc_first = cur_time;
	for (;;) {
		srv_state[unit] = 'w';
		if ((pk = iface_get(ifp)) == NULL)
			break;
		srv_state[unit] = 'r';
		ifp->if_ipackets++;
		__sync_fetch_and_add(&total_in, 1);
		ss = &srvstats[unit];
		if (pk->pk_type >= NMSGTYPE || handlers[pk->pk_type].hd_func == NULL) {
			__sync_fetch_and_add(&badtype, 1);
			answer(ifp, pk, -1);
			continue;
		}
		if (pk->pk_optlen > sizeof(pk->pk_opts)) {
			__sync_fetch_and_add(&toolong, 1);
			answer(ifp, pk, -1);
			continue;
		}
		ls = lease_find(pk->pk_hw);
		if (ls != NULL)
			ss->ss_hits++;
		else
			ss->ss_unknown++;
		ss->ss_msgs[pk->pk_type]++;
		ss->ss_lasttype = pk->pk_type;
		hd = &handlers[pk->pk_type];
		hd->hd_calls++;
		if ((rc = hd->hd_func(ifp, pk, ls)) < 0)
			hd->hd_refused++;
		if (srvclock[unit].sc_last != cur_time) {
			srvclock[unit].sc_last = cur_time;
			srvclock[unit].sc_ticks++;
		}
		answer(ifp, pk, rc);
	}
	srv_state[unit] = 'x';
	return NULL;
}

void
server_report(void)
{
	struct subnet *sn;
	int i;

	for (i = 0; i < nserver; i++)
		printf("%s: in %u out %u, hits %u unknown %u, %u ticks, state %c\n", ifaces[i]->if_name, ifaces[i]->if_ipackets,
		    ifaces[i]->if_opackets, srvstats[i].ss_hits, srvstats[i].ss_unknown, srvclock[i].sc_ticks, srv_state[i]);
	for (i = 0; i < NMSGTYPE; i++)
		if (handlers[i].hd_func != NULL)
			printf("%s: %u calls, %u refused\n", handlers[i].hd_name, handlers[i].hd_calls, handlers[i].hd_refused);
	for (sn = subnets; sn; sn = sn->sn_next)
		printf("subnet %x: %u offers %u acks %u releases\n", sn->sn_addr, sn->sn_offers, sn->sn_acks, sn->sn_releases);
	printf("total in %u out %u bad %u long %u\n", total_in, total_out, badtype, toolong);
}
