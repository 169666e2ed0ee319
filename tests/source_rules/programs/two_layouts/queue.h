// The header uses a macro that config.h defines and does not include it.
// expect: alignment-lost-in-unit high queue
#ifndef CACHE_ALIGN
#define CACHE_ALIGN
#endif
struct queue {
  CACHE_ALIGN long head;
  CACHE_ALIGN long tail;
};
