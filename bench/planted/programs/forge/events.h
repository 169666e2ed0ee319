#ifndef FORGE_EVENTS_H
#define FORGE_EVENTS_H

#include <stdint.h>
#include <stdio.h>

enum event_kind { EV_START = 1, EV_END };

/* a trace of the build that can be written as a time line afterwards */
void events_init(unsigned capacity);
void events_add(enum event_kind kind, uint32_t target);
unsigned events_export(FILE *f);
void events_free(void);

#endif
