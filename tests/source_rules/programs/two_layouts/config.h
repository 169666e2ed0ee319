#define CACHE_ALIGN __attribute__((aligned(64)))
