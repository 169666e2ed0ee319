/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * fwdd - user space packet forwarder
 *
 * One "rx" lcore per port polls its port and classifies, one "tx" lcore per
 * port rewrites and transmits.  A control lcore ages neighbours and collects
 * the numbers for `show'.
 */
#ifndef FWDD_H
#define FWDD_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define FWDD_MAX_LCORE	8
#define FWDD_MAX_PORT	4
#define FWDD_BURST	8
#define FWDD_RING_SZ	64
#define FWDD_NEIGH	4
#define CACHE_LINE	64

enum lcore_role { ROLE_NONE, ROLE_RX, ROLE_TX, ROLE_CTL };

struct pkt {
	uint32_t dst;
	uint32_t src;
	uint16_t len;
	uint16_t port;
	uint8_t  hdr[20];
};

/* single producer, single consumer */
struct ring {
	uint32_t	  size;
	uint32_t	  mask;
	struct pkt	**slot;
	_Atomic uint32_t  prod;
	_Atomic uint32_t  cons;
	uint64_t	  full;		/* producer found it full */
};

struct port {
	char		  name[12];
	uint16_t	  id;
	uint16_t	  mtu;
	uint32_t	  rx_cursor;	/* next rx descriptor */
	uint32_t	  rx_seed;
	uint64_t	  tx_frames;
	uint64_t	  tx_octets;
	uint64_t	  tx_too_big;	/* never with the built in generator */
	struct pkt	 *pool;
	uint32_t	  npool;
};

struct neigh {
	_Atomic uint32_t  seq;
	uint8_t		  mac[6];
	uint16_t	  state;
	uint32_t	  addr;
	uint32_t	  confirmed;	/* control lcore, when aging */
	_Atomic uint64_t  used;		/* forwarding path, last use */
};

struct fib {
	uint32_t	  nroutes;
	uint32_t	  def_port;
	const struct route *routes;
	_Atomic uint64_t  lookups;
};

struct route {
	uint32_t prefix;
	uint32_t mask;
	uint16_t port;
	uint16_t neigh;
};

struct lcore;
typedef int (*node_fn)(struct lcore *lc, struct pkt **burst, int n);

struct node {
	const char *name;
	node_fn	    process;
	uint64_t    calls;
	uint64_t    packets;
};

struct lcore {
	pthread_t	 tid;
	enum lcore_role	 role;
	int		 id;
	struct port	*port;
	struct ring	*in;
	struct ring	*out[FWDD_MAX_PORT];
	uint64_t	 polls;
	uint64_t	 packets;
	uint64_t	 drops;
};

/* the same numbers for `show', on lines of their own */
struct lcore_show {
	uint64_t bursts;
	uint64_t empty;
	uint64_t octets;
} __attribute__((aligned(CACHE_LINE)));

struct fwdd_global {
	/* from the command line, constant afterwards */
	uint32_t	nports;
	uint32_t	burst;
	uint64_t	limit;
	bool		verbose;
	/* control */
	_Atomic int	rx_left;
	_Atomic int	tx_left;
	uint64_t	ctl_ticks;
	uint64_t	ctl_sum;
};

extern struct fwdd_global fwdd;
extern struct lcore lcores[FWDD_MAX_LCORE];
extern struct lcore_show lcore_show[FWDD_MAX_LCORE];
extern struct port ports[FWDD_MAX_PORT];

/* ring.c */
struct ring *ring_create(uint32_t size);
void ring_destroy(struct ring *r);
bool ring_put(struct ring *r, struct pkt *p);
struct pkt *ring_get(struct ring *r);

/* port.c */
int port_open(struct port *p, uint16_t id, uint32_t npool);
void port_close(struct port *p);
int port_rx(struct port *p, struct pkt **burst, int max);
void port_tx(struct port *p, struct pkt **burst, int n);

/* fib.c */
int fib_init(uint32_t nports);
void fib_fini(void);
const struct route *fib_lookup(uint32_t dst);
void flow_cache_attach(const struct lcore *lc);
int flow_cache_init(int n);
void flow_cache_fini(void);
const struct route *flow_lookup(uint32_t dst);
bool neigh_resolve(unsigned idx, uint8_t mac[6], uint64_t now);
void neigh_age(uint64_t now);

/* node.c */
int node_run(unsigned idx, struct lcore *lc, struct pkt **burst, int n);
void node_report(FILE *f);
enum { NODE_CLASSIFY, NODE_REWRITE, NODE_PUNT };

/* lcore.c */
int lcore_launch(void);
void lcore_wait(void);
void lcore_report(FILE *f);

#endif
