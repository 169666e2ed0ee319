// A member was added and not subtracted: slots are 72 bytes.
// expect: pad-misses-line low slot.pad slot.misses
#define CACHE_LINE 64

struct slot {
  long hits;
  long misses;
  char pad[CACHE_LINE - sizeof(long)];
};
static struct slot slots[16];

void count(int self, int hit) {
  if (hit)
    slots[self].hits++;
  else
    slots[self].misses++;
}
