// The transmit ring of a network driver: filled by the transmit path, emptied by the poll of the interrupt.
// about: next_to_use next_to_clean
#include <stdint.h>
#include <stdlib.h>

#ifdef FIXED
#define ____cacheline_aligned_in_smp __attribute__((aligned(64)))
#else
#define ____cacheline_aligned_in_smp
#endif

struct net_device;
struct sk_buff {
  unsigned int len;
  void *data;
};
struct tx_desc {
  uint64_t address;
  uint32_t length, status;
};
struct net_device_ops {
  int (*open)(struct net_device *);
  int (*start_xmit)(struct sk_buff *, struct net_device *);
};
struct napi_struct {
  int (*poll)(struct napi_struct *, int);
};
struct tx_ring {
  struct tx_desc *desc;
  struct sk_buff **buffers;
  volatile uint32_t *tail;
  uint16_t count;
  /* transmit */
  uint16_t next_to_use;
  uint64_t packets, bytes;
  /* clean */
  uint16_t next_to_clean ____cacheline_aligned_in_smp;
  uint64_t cleaned;
#ifdef EDIT
  uint32_t restarts;
#endif
};
struct net_device {
  const struct net_device_ops *ops;
  struct napi_struct napi;
  struct tx_ring *ring;
};

extern void consume_skb(struct sk_buff *skb);

static int drv_start_xmit(struct sk_buff *skb, struct net_device *dev) {
  struct tx_ring *ring = dev->ring;
  uint16_t use = ring->next_to_use;
  struct tx_desc *desc = &ring->desc[use];

  desc->address = (uint64_t)skb->data;
  desc->length = skb->len;
  ring->buffers[use] = skb;
  if (++use == ring->count)
    use = 0;
  ring->next_to_use = use;
  ring->packets++;
  ring->bytes += skb->len;
  *ring->tail = use;
  return 0;
}

static int drv_poll(struct napi_struct *napi, int budget) {
  struct net_device *dev = (struct net_device *)((char *)napi - __builtin_offsetof(struct net_device, napi));
  struct tx_ring *ring = dev->ring;
  uint16_t clean = ring->next_to_clean;
  int done = 0;

  while (done < budget && ring->desc[clean].status & 1) {
    ring->desc[clean].status = 0;
    consume_skb(ring->buffers[clean]);
    if (++clean == ring->count)
      clean = 0;
    ring->cleaned++;
    done++;
  }
  ring->next_to_clean = clean;
  return done;
}

static int drv_open(struct net_device *dev) {
  dev->ring = calloc(1, sizeof(*dev->ring));
  if (!dev->ring)
    return -12;
  dev->ring->count = 512;
  dev->napi.poll = drv_poll;
  return 0;
}

static const struct net_device_ops drv_ops = {.open = drv_open, .start_xmit = drv_start_xmit};

int drv_probe(struct net_device *dev) {
  dev->ops = &drv_ops;
  return 0;
}
