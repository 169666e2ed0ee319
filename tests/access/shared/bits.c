/* Sets of bits, whose words are chosen with the bit, and words that are changed
 * in other ways. */
#include <stdint.h>

uint64_t set_bits[64], cleared[64], flipped[64], many[64], atomically[64],
    swapped[64];
uint64_t counts[64], sums[64], masks[64], flags[64], merged[64];
uint32_t halves[64];

void setting(unsigned long n) { set_bits[n / 64] |= 1UL << (n % 64); }
void clearing(unsigned long n) { cleared[n / 64] &= ~(1UL << (n % 64)); }
void flipping(unsigned long n) { flipped[n / 64] ^= 1UL << (n % 64); }
void setting_halves(unsigned long n) { halves[n / 32] |= 1U << (n % 32); }
void setting_many(unsigned long n, unsigned long count) {
  many[n / 64] |= ((1UL << count) - 1) << (n % 64);
}
void setting_atomically(unsigned long n) {
  __atomic_fetch_or(&atomically[n / 64], 1UL << (n % 64), __ATOMIC_RELAXED);
}
void swapping(unsigned long n) {
  uint64_t old = swapped[n / 64];
  while (!__atomic_compare_exchange_n(
      &swapped[n / 64], &old, old | 1UL << (n % 64), 0, __ATOMIC_SEQ_CST, 0))
    ;
}

void counting(unsigned long n) { counts[n]++; }
void summing(unsigned long n, unsigned long by) { sums[n] += 1UL << by; }
void masking(unsigned long n, unsigned long bit) { masks[n] = 1UL << bit; }
void flagging(unsigned long n) { flags[n] |= 4; }
void merging(unsigned long n, unsigned long with) { merged[n] |= with; }

int main(void) { return 0; }
