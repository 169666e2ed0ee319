/* Tables: strides, nested loops, matrices, arrays of structs, moving pointers, known counts. */
#include <stddef.h>
#include <string.h>

#define N 64
int vector[N];
static long squares[N];
double matrix[16][24];
char bytes[256];
short halves[100];
struct slot { long count; int state; char name[20]; void *owner; };
struct slot slots[32];
static struct slot *current;
struct grid { int cells[8][8]; int used; } grid;
unsigned char flags[1000];
static int histogram[256];

long sum_vector(void) {
  long sum = 0;
  for (int i = 0; i < N; i++)
    sum += vector[i];
  return sum;
}
void fill_squares(void) {
  for (long i = 0; i < N; i++)
    squares[i] = i * i;
}
double trace(void) {
  double t = 0;
  for (int i = 0; i < 16; i++)
    for (int j = 0; j < 24; j++)
      t += matrix[i][j] * (i == j);
  return t;
}
int index_of(int i) { return vector[i] + halves[i + 3]; }
void count_slot(int i, void *owner) {
  slots[i].count++;
  slots[i].state = 2;
  slots[i].owner = owner;
  slots[i].name[3] = 'x';
  current = &slots[i];
}
int find_slot(void *owner) {
  for (size_t i = 0; i < 32; i++)
    if (slots[i].owner == owner && slots[i].state)
      return (int)i;
  return -1;
}
void reset_slots(void) {
  for (struct slot *s = slots; s < slots + 32; s++) {
    s->count = 0;
    s->state = -1;
  }
}
void reset_backwards(void) {
  for (struct slot *s = slots + 31; s >= slots; s--)
    s->count = 1;
}
void clear(void) {
  memset(flags, 0, sizeof flags);
  memset(&grid, 0, sizeof grid);
  memset(bytes, 1, 16);
}
void copy_bytes(void) {
  memcpy(bytes + 16, flags, 64);
  memmove(bytes, bytes + 1, 255);
  grid.used = (int)strlen(bytes);
}
void histogram_of(const unsigned char *p, size_t n) {
  while (n--)
    histogram[*p++]++;
}
int cell(int x, int y) { return grid.cells[y][x] + grid.cells[y + 1][x]; }
void mark(int x) { grid.cells[x][x] |= 4; }
void shift_halves(int by) {
  for (int i = 99; i >= by; i--)
    halves[i] = halves[i - by];
}
unsigned flag_at(unsigned i) { return flags[i] + flags[i & 31] + flags[7]; }
int main(int argc, char **argv) {
  (void)argv;
  clear();
  fill_squares();
  count_slot(argc, &argc);
  reset_slots();
  reset_backwards();
  copy_bytes();
  histogram_of(flags, sizeof flags);
  mark(argc);
  shift_halves(argc);
  return (int)(sum_vector() + squares[argc] + (long)trace() + index_of(argc) + find_slot(current) + cell(1, argc) +
               (long)flag_at((unsigned)argc));
}
