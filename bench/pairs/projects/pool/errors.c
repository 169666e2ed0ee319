#include "pool.h"

static const char *const texts[] = {"no error", "out of memory", "too many threads", "not started"};
int last_error;

const char *pool_error(int code) {
  last_error = code;
  return code >= 0 && code < 4 ? texts[code] : "unknown error";
}
