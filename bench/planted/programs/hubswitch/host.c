#include "host.h"
#include "forward.h"
#include "port.h"

#include <stdio.h>
#include <string.h>

enum { BATCH = 4, ADDRESSES = 5 };

/* a thread that plays the stations behind every second port */
struct host {
	thrd_t thread;
	uint32_t rng;
	uint32_t sent;
	uint32_t refused;
	uint32_t got;
	uint32_t got_bytes;
	uint32_t latency;
};

static struct host hosts[HUB_HOSTS];

static void address(uint8_t mac[6], unsigned port, unsigned n)
{
	mac[0] = 2;
	mac[1] = 0;
	mac[2] = 0x5e;
	mac[3] = (uint8_t)port;
	mac[4] = (uint8_t)(n * 37);
	mac[5] = (uint8_t)n;
}

static void fill(struct host *h, struct frame *f, unsigned port)
{
	uint32_t r = lcg(&h->rng);

	address(f->src, port, r % ADDRESSES);
	if (r % 61 == 0)
		memset(f->dst, 0xff, 6);
	else
		address(f->dst, (port + HUB_VLANS * (r >> 7)) % HUB_PORTS, (r >> 12) % ADDRESSES);
	f->vlan = (uint16_t)(port % HUB_VLANS);
	f->len = (uint16_t)(64 + r % 900);
	f->priority = r & 7;
	f->born = hub_ticks;
}

static void drain(struct host *h, struct port *p)
{
	struct frame *f;

	while ((f = ring_pop(p->tx))) {
		h->got++;
		h->got_bytes += f->len;
		h->latency += hub_ticks - f->born;
		frame_put(f);
	}
}

static int host_main(void *arg)
{
	struct host *h = arg;
	unsigned me = (unsigned)(h - hosts);

	while (h->sent < config.frames) {
		for (unsigned p = me; p < HUB_PORTS; p += HUB_HOSTS) {
			for (unsigned i = 0; i < BATCH; i++) {
				struct frame *f = frame_get();

				if (!f) {
					thrd_yield();
					break;
				}
				fill(h, f, p);
				if (!port_receive(&ports[p], f)) {
					h->refused++;
					frame_put(f);
					thrd_yield();
					break;
				}
				h->sent++;
			}
			forward_kick(p);
			drain(h, &ports[p]);
		}
	}
	return 0;
}

void hosts_start(void)
{
	for (unsigned i = 0; i < HUB_HOSTS; i++) {
		hosts[i].rng = config.seed + i * 977;
		if (thrd_create(&hosts[i].thread, host_main, &hosts[i]) != thrd_success)
			hub_fatal("cannot start a host");
	}
}

void hosts_join(void)
{
	uint32_t sent = 0, got = 0, refused = 0, latency = 0;

	for (unsigned i = 0; i < HUB_HOSTS; i++) {
		thrd_join(hosts[i].thread, NULL);
		sent += hosts[i].sent;
		got += hosts[i].got;
		refused += hosts[i].refused;
		latency += hosts[i].latency;
	}
	printf("hosts: %u sent, %u got, %u refused, %u ticks\n", sent, got, refused, latency);
}
