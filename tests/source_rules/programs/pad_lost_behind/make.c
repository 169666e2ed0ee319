#define WITH_PADS
#include "session.h"

static struct session one;
struct session *make(void) {
  one.sent++;
  return &one;
}
