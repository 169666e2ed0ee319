#ifndef DEQUE_H
#define DEQUE_H
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <threads.h>

#define DQ_SIZE 256

typedef struct tile {
    uint16_t x, y;
    uint32_t frame;
} tile;

/* owner works at bottom, thieves at top */
typedef struct deque {
    tile *ring;
    atomic_long top;
    atomic_long bottom;
    long pushed;             /* feeder */
    long stolen;             /* thieves, under steal_lock */
    mtx_t steal_lock;
} deque;

bool deque_init(deque *d);
void deque_free(deque *d);
bool deque_push(deque *d, tile t);
bool deque_take(deque *d, tile *out);
#endif
