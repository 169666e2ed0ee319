// A buffer that many readers hold: its reference count changes beside what they read for every packet.
// about: refcount
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct session_key {
#ifdef FIXED
  _Alignas(64) atomic_uint refcount;
  _Alignas(64) uint32_t id;
#else
  atomic_uint refcount;
  uint32_t id;
#endif
  uint32_t mtu;
  uint32_t flags;
  uint8_t secret[32];
#ifdef EDIT
  uint8_t salt[4];
#endif
};

extern void encrypt(const uint8_t *secret, uint8_t *data, size_t size);

struct session_key *key_new(uint32_t id, const uint8_t *secret) {
  struct session_key *key = aligned_alloc(64, (sizeof *key + 63) & ~(size_t)63);
  if (!key)
    return NULL;
  atomic_init(&key->refcount, 1);
  key->id = id;
  key->mtu = 1500;
  key->flags = 0;
  memcpy(key->secret, secret, sizeof key->secret);
  return key;
}

struct session_key *key_get(struct session_key *key) {
  atomic_fetch_add_explicit(&key->refcount, 1, memory_order_relaxed);
  return key;
}

void key_put(struct session_key *key) {
  if (atomic_fetch_sub_explicit(&key->refcount, 1, memory_order_acq_rel) == 1)
    free(key);
}

int send_packets(const struct session_key *key, uint8_t **packets, const size_t *sizes, int count) {
  int sent = 0;
  for (int i = 0; i < count; i++) {
    if (sizes[i] > key->mtu || key->flags & 1)
      continue;
    encrypt(key->secret, packets[i], sizes[i]);
    sent++;
  }
  return sent;
}
