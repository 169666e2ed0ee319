#define WITH_PADS
#include "session.h"

void put(struct session *s) { s->sent++; }
