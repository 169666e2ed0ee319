#include "forward.h"
#include "fdb.h"
#include "port.h"
#include "storm.h"
#include "vlan.h"

#include <stdio.h>
#include <stdlib.h>

static struct forwarder *forwarders[HUB_FORWARDERS];
static _Atomic bool stopping;

static void flood(struct forwarder *w, struct vlan *v, struct frame *f)
{
	unsigned copies = 0, out[HUB_PORTS];

	if (!storm_allow(f->in_port)) {
		w->filtered++;
		frame_put(f);
		return;
	}
	for (unsigned p = 0; p < HUB_PORTS && copies < v->flood_limit; p++)
		if (p != f->in_port && vlan_has(v, p) && (ports[p].flags & PORT_UP))
			out[copies++] = p;
	atomic_fetch_add_explicit(&v->floods, 1, memory_order_relaxed);
	atomic_fetch_add_explicit(&f->refs, (uint16_t)copies, memory_order_relaxed);
	for (unsigned i = 0; i < copies; i++)
		if (!port_send(&ports[out[i]], f))
			frame_put(f);
	frame_put(f);
	w->flooded++;
}

static void forward_one(struct forwarder *w, struct frame *f)
{
	struct vlan *v = &vlans[f->vlan];
	uint8_t out;

	if (!vlan_has(v, f->in_port)) {
		v->denied++;
		w->filtered++;
		frame_put(f);
		return;
	}
	atomic_fetch_add_explicit(&v->frames, 1, memory_order_relaxed);
	fdb_learn(f->src, f->vlan, f->in_port);
	out = f->dst[0] & 1 ? BROADCAST_PORT : fdb_lookup(f->dst, f->vlan);
	if (out == BROADCAST_PORT) {
		flood(w, v, f);
		return;
	}
	if (out == f->in_port || (ports[out].flags & PORT_BLOCKED)) {
		w->filtered++;
		frame_put(f);
		return;
	}
	if (!port_send(&ports[out], f))
		frame_put(f);
	w->unicast++;
}

static int forwarder_main(void *arg)
{
	struct forwarder *w = arg;
	struct frame *f;

	for (;;) {
		sem_wait(&w->wake);
		w->wakeups++;
		for (unsigned p = w->first; p < w->last; p++)
			while ((f = ring_pop(ports[p].rx)))
				forward_one(w, f);
		if (stopping)
			break;
	}
	return 0;
}

void forward_start(void)
{
	unsigned share = HUB_PORTS / HUB_FORWARDERS;

	for (unsigned i = 0; i < HUB_FORWARDERS; i++) {
		struct forwarder *w = calloc(1, sizeof *w);

		if (!w || sem_init(&w->wake, 0, 0))
			hub_fatal("cannot create a forwarder");
		w->first = i * share;
		w->last = w->first + share;
		forwarders[i] = w;
	}
	for (unsigned i = 0; i < HUB_FORWARDERS; i++)
		if (thrd_create(&forwarders[i]->thread, forwarder_main, forwarders[i]) != thrd_success)
			hub_fatal("cannot start a forwarder");
}

void forward_kick(unsigned port)
{
	sem_post(&forwarders[port / (HUB_PORTS / HUB_FORWARDERS)]->wake);
}

void forward_stop(void)
{
	stopping = true;
	for (unsigned i = 0; i < HUB_FORWARDERS; i++) {
		struct forwarder *w = forwarders[i];

		sem_post(&w->wake);
		thrd_join(w->thread, NULL);
		printf("forwarder %u: %u unicast, %u flooded, %u filtered, %u wake-ups\n", i,
		       w->unicast, w->flooded, w->filtered, w->wakeups);
		sem_destroy(&w->wake);
		free(w);
	}
}
