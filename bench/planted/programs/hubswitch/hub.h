#ifndef HUB_H
#define HUB_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HUB_PORTS 12
#define HUB_VLANS 6
#define HUB_FORWARDERS 2
#define HUB_HOSTS 2
#define HUB_MAX_FRAMES 512

#define BROADCAST_PORT 0xff

struct config {
	unsigned frames;	/* each host thread sends so many */
	unsigned seed;
	unsigned mac_age;	/* ticks until an address is forgotten */
	unsigned tick_us;
	int storm_burst;
	bool verbose;
	bool mirror;
	unsigned reloads;
};

extern struct config config;
extern _Atomic uint32_t hub_ticks;

/* what is known of one frame while it is in the switch */
struct frame {
	uint8_t dst[6];
	uint8_t src[6];
	uint16_t vlan;
	uint16_t len;
	uint8_t in_port;
	uint8_t priority;
	_Atomic uint16_t refs;
	uint32_t born;
	struct frame *next;
};

void frames_init(void);
struct frame *frame_get(void);
void frame_put(struct frame *f);
unsigned frames_free_count(void);
void frames_destroy(void);

/* one producer, one consumer; the producers of tx rings take a lock outside */
struct ring {
	uint32_t mask;
	_Atomic uint32_t head;	/* consumer */
	_Atomic uint32_t tail;	/* producer */
	uint32_t full;
	struct frame **slots;
};

struct ring *ring_new(uint32_t size);
bool ring_push(struct ring *r, struct frame *f);
struct frame *ring_pop(struct ring *r);
void ring_free(struct ring *r);

static inline uint32_t lcg(uint32_t *s)
{
	*s = *s * 1664525u + 1013904223u;
	return *s >> 8;
}

void hub_fatal(const char *what) __attribute__((noreturn));

#endif
