// Offsets of elements that data chooses, where some way has a number for them.
// clang-format off
struct shard { unsigned long hits, misses; };
struct shard by_text[16], by_one_of_two[16], by_any[16];
struct { long head; struct shard shards[16]; } behind;

// What the hash of nothing is a compiler knows.
__attribute__((noinline)) void count_text(const char *s, unsigned long n) {
  unsigned long h = 14695981039346656037u;
  while (*s) { h ^= (unsigned char)*s++; h *= 1099511628211u; }
  struct shard *of = &by_text[h % 16];
  __atomic_fetch_add(&of->hits, 1, __ATOMIC_RELAXED);
  __atomic_fetch_add(&of->misses, n, __ATOMIC_RELAXED);
}
__attribute__((noinline)) void count_behind(const char *s, unsigned long n) {
  unsigned long h = 14695981039346656037u;
  while (*s) { h ^= (unsigned char)*s++; h *= 1099511628211u; }
  struct shard *of = &behind.shards[h % 16];
  __atomic_fetch_add(&of->hits, 1, __ATOMIC_RELAXED);
  __atomic_fetch_add(&of->misses, n, __ATOMIC_RELAXED);
}
__attribute__((noinline)) void count_one_of_two(unsigned long h, unsigned long g, int way) {
  unsigned long at;
  if (way) { at = h & 15; __asm__ volatile("" ::: "memory"); } else { at = g & 7; }
  by_one_of_two[at].hits++;
}
// Nothing is known of the other number.
__attribute__((noinline)) void count_any(unsigned long h, long *at, int way) {
  char *of = (char *)by_any;
  unsigned long on;
  if (way) { on = (h & 15) * 16; __asm__ volatile("" ::: "memory"); } else { on = (unsigned long)*at; }
  *(unsigned long *)(of + on) += 2;
}
int main(void) { return 0; }
