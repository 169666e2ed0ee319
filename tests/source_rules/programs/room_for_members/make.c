#define INSIDE
#include "session.h"

static struct session one;
struct session *make(void) {
  one.waiting++;
  return &one;
}
