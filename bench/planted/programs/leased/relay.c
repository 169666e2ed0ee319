/*	relay.c - relay agents that speak for the clients, and packet memory	*/

#include "leased.h"

static pthread_mutex_t	 pool_lock = PTHREAD_MUTEX_INITIALIZER;
static struct packet	*pool_free;
static u_int32_t	 pool_used, pool_size;
static u_int32_t	 pool_empty;

static struct relay	*relays[MAXRELAY];
static u_int32_t	 relay_bytes[MAXRELAY];
static u_int32_t	 max_window = WINDOW;
extern u_long		 rounds;

void
packet_init(int n)
{
	struct packet *pk;

	while (n-- > 0) {
		pk = xcalloc(1, sizeof(*pk));
		pk->pk_next = pool_free;
		pool_free = pk;
		pool_size++;
	}
}

struct packet *
packet_get(void)
{
	struct packet *pk;

	pthread_mutex_lock(&pool_lock);
	if ((pk = pool_free) != NULL) {
		pool_free = pk->pk_next;
		pool_used++;
	} else
		pool_empty++;
	pthread_mutex_unlock(&pool_lock);
	return pk;
}

void
packet_put(struct packet *pk)
{
	pthread_mutex_lock(&pool_lock);
	pk->pk_next = pool_free;
	pool_free = pk;
	pool_used--;
	pthread_mutex_unlock(&pool_lock);
}

struct relay *
relay_new(int id)
{
	struct relay *rl = xcalloc(1, sizeof(*rl));

	rl->rl_id = id;
	rl->rl_seed = 77 + id * 4099;
	relays[id] = rl;
	return rl;
}

static u_int32_t
draw(struct relay *rl)
{
	rl->rl_seed = rl->rl_seed * 1103515245 + 12345;
	return rl->rl_seed >> 16;
}

static void
fill(struct relay *rl, struct packet *pk, u_int client, u_int32_t dice)
{
	u_char *p = pk->pk_opts;

	pk->pk_relay = rl;
	pk->pk_xid = rl->rl_sent;
	memset(pk->pk_hw, 0, sizeof(pk->pk_hw));
	pk->pk_hw[0] = 2;
	pk->pk_hw[4] = client % nserver;
	pk->pk_hw[5] = client;
	pk->pk_giaddr = ifaces[client % nserver]->if_addr;
	switch (dice & 7) {
	case 0: case 1:
		pk->pk_type = MSG_DISCOVER;
		break;
	case 2:
		pk->pk_type = MSG_INFORM;
		break;
	case 3:
		pk->pk_type = MSG_RELEASE;
		break;
	default:
		pk->pk_type = MSG_REQUEST;
	}
	*p++ = 53; *p++ = 1; *p++ = pk->pk_type;
	if (dice & 16) {
		*p++ = 51; *p++ = 4; *p++ = 0; *p++ = 0; *p++ = 3; *p++ = dice;
	}
	if (dice & 32) {
		*p++ = 12; *p++ = 3; *p++ = 'p'; *p++ = 'c'; *p++ = '0' + client % 10;
	}
	if (dice & 64) {
		*p++ = 55; *p++ = 2; *p++ = 1; *p++ = 3;
	}
	pk->pk_optlen = p - pk->pk_opts;
}

void *
relay_thread(void *arg)
{
	struct relay *rl = arg;
	struct packet *pk;
	u_int32_t x;
	u_int client;

	while (rl->rl_sent < rounds) {
		while (rl->rl_sent - *(volatile u_int32_t *)&rl->rl_answers >= max_window) {
			rl->rl_spins++;
			sched_yield();
		}
		if ((pk = packet_get()) == NULL) {
			sched_yield();
			continue;
		}
		x = draw(rl);
		client = (x >> 4) % config.cf_nclient;
		fill(rl, pk, client, x ^ x >> 7);
		relay_bytes[rl->rl_id] += 44 + pk->pk_optlen;
		rl->rl_sent++;
		iface_put(ifaces[client % nserver], pk);
	}
	while (*(volatile u_int32_t *)&rl->rl_answers != rl->rl_sent)
		sched_yield();
	__sync_fetch_and_sub(&relays_running, 1);
	return NULL;
}

u_int32_t
relay_report(void)
{
	u_int32_t n = 0;
	int i;

	for (i = 0; i < nrelay; i++) {
		printf("relay %d: %u sent, %u answers, %u naks, %u bytes, %u spins\n", i, relays[i]->rl_sent,
		    relays[i]->rl_answers, relays[i]->rl_naks, relay_bytes[i], relays[i]->rl_spins);
		n += relays[i]->rl_answers;
	}
	if (pool_used || pool_empty)
		printf("packets: %u of %u in use, %u times empty\n", pool_used, pool_size, pool_empty);
	return n;
}
