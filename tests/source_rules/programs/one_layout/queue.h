// The header includes what it needs.  Two private structs of one name in two files are two structs.
// no-finding
#include "config.h"
struct queue {
  CACHE_ALIGN long head;
  CACHE_ALIGN long tail;
};
