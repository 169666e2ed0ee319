// Too much is subtracted: the next slot starts on the same line.
// expect: pad-misses-line medium slot.pad
struct slot {
  long hits;
  char pad[64 - 2 * sizeof(long)];
};
static struct slot slots[16];

void count(int self) { slots[self].hits++; }
