// Arithmetic that is right, whole lines of distance, records of a fixed size, reserved bytes of a format.
// no-finding
#include <stdint.h>
#define CACHE_LINE 64

struct slot {
  long hits;
  long misses;
  char pad[CACHE_LINE - 2 * sizeof(long)];
};
struct ring {
  long head;
  char pad0[CACHE_LINE - sizeof(long)];
  long tail;
  char pad1[CACHE_LINE - sizeof(long)];
};
struct distance {
  int first;
  char pad[CACHE_LINE];
  int second;
};
struct sector {
  uint32_t magic;
  uint32_t version;
  char unused[512 - sizeof(uint32_t)];
};
struct header {
  uint32_t length;
  uint8_t reserved[12];
};
union line {
  long value;
  char pad[CACHE_LINE];
};
static struct slot slots[16];
static struct ring ring;
static struct distance apart;
static struct sector sector;
static struct header header;
static union line lines[4];

void count(int self) {
  slots[self].hits += slots[self].misses;
  ring.head += ring.tail;
  apart.first += apart.second;
  sector.magic++;
  header.length++;
  lines[self].value++;
}
