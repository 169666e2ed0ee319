#ifndef HUB_FDB_H
#define HUB_FDB_H

#include "hub.h"

/* the forwarding data base: which address was seen on which port */
void fdb_init(void);
void fdb_learn(const uint8_t mac[6], uint16_t vlan, uint8_t port);
uint8_t fdb_lookup(const uint8_t mac[6], uint16_t vlan);
unsigned fdb_expire(uint32_t now);
void fdb_report(void);

#endif
