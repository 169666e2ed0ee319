// The array is aligned, and each index is multiplied: by so much that every thread has a line, or by too little.
// expect: array-aligned-not-element medium halves
#include <stddef.h>

enum { STEP = 8, HALF = 4 };
static _Atomic long whole[16 * STEP] __attribute__((aligned(64)));
static _Atomic long halves[16 * HALF] __attribute__((aligned(64)));

void count(size_t self) {
  whole[self * STEP]++;
  halves[self * HALF]++;
}
