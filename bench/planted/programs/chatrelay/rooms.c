/* Rooms: a relay has every second one. */
#include "relay.h"

#include <stdlib.h>

room_t *rooms[NROOMS];

int rooms_init(void)
{
	for (uint32_t i = 0; i < NROOMS; i++) {
		room_t *r = aligned_alloc(CLINE, (sizeof *r + CLINE - 1) / CLINE * CLINE);
		if (!r)
			return -1;
		r->id = i;
		r->messages = r->digest = 0;
		r->topic = i * 17;
		atomic_init(&r->seen, 0);
		r->nmembers = 0;
		for (uint32_t k = 0; k < 4; k++) {
			user_t *u = user_get((i * 4 + k) % NUSERS);
			if (u)
				r->members[r->nmembers++] = u;
		}
		rooms[i] = r;
	}
	return 0;
}

void room_relay(room_t *r, const msg_t *m)
{
	uint32_t d = r->digest;

	for (uint32_t k = 0; k < r->nmembers; k++) {
		const user_t *u = r->members[k];
		if (u->id == m->from)
			continue;
		d = d * 31 + (u->colour ^ m->seq);
		for (unsigned i = 0; i < 8; i++)
			d = (d << 5 | d >> 27) ^ (unsigned char)m->body[(i * 5 + k) % m->len];
		d += u->rank;
	}
	r->digest = d;
	r->messages++;
}

void rooms_free(void)
{
	for (int i = 0; i < NROOMS; i++) {
		for (uint32_t k = 0; k < rooms[i]->nmembers; k++)
			user_put(rooms[i]->members[k]);
		free(rooms[i]);
	}
}
