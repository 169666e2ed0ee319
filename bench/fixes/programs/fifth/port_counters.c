// A switch port with counters of each processor inside its record, reached through the port that a frame came by.
// about: percpu rx_frames rx_octets tx_frames tx_octets port_counters swport
#define _GNU_SOURCE
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>

#define MAX_CPUS 32

struct port_counters {
  uint64_t rx_frames;
  uint64_t rx_octets;
  uint64_t tx_frames;
  uint64_t tx_octets;
#ifdef FIXED
} __attribute__((aligned(64)));
#else
};
#endif

struct swport {
  int number;
  unsigned speed_mbit;
  char name[16];
#ifdef EDIT
  unsigned vlan;
#endif
  struct port_counters percpu[MAX_CPUS];
};

struct frame {
  struct swport *in;
  unsigned length;
  unsigned char *octets;
};

extern struct swport *fdb_lookup(const unsigned char *mac);
extern int wire_send(int number, const unsigned char *octets, unsigned length);

static inline unsigned this_cpu(void) { return (unsigned)sched_getcpu() % MAX_CPUS; }

static void count_rx(struct swport *port, unsigned length) {
  struct port_counters *mine = &port->percpu[this_cpu()];
  mine->rx_frames++;
  mine->rx_octets += length;
}

static void count_tx(struct swport *port, unsigned length) {
  struct port_counters *mine = &port->percpu[this_cpu()];
  mine->tx_frames++;
  mine->tx_octets += length;
}

struct swport *swport_new(int number, unsigned speed_mbit) {
  struct swport *port = aligned_alloc(64, (sizeof *port + 63) & ~63ul);
  if (!port)
    return NULL;
  port->number = number;
  port->speed_mbit = speed_mbit;
  for (int cpu = 0; cpu < MAX_CPUS; cpu++)
    port->percpu[cpu] = (struct port_counters){0};
  return port;
}

int swport_forward(struct frame *frames, unsigned count) {
  int sent = 0;
  for (unsigned i = 0; i < count; i++) {
    struct frame *frame = &frames[i];
    count_rx(frame->in, frame->length);
    struct swport *out = fdb_lookup(frame->octets);
    if (!out || out == frame->in)
      continue;
    if (wire_send(out->number, frame->octets, frame->length) == 0) {
      count_tx(out, frame->length);
      sent++;
    }
  }
  return sent;
}
