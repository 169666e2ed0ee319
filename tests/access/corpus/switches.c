/* Switches with jump tables, computed gotos, landing in the middle of straight code. */
int counters[12];
static int modes[8];
long total;
static int state;
int events;
int step(int op, int x) {
  switch (op) {
  case 0: counters[0]++; break;
  case 1: counters[1] += x; /* fall through */
  case 2: counters[2] -= x; break;
  case 3: total += counters[3]; break;
  case 4: state = x; break;
  case 5: state |= x; events++; break;
  case 6: for (int i = 0; i < x; i++) total += modes[i & 7]; break;
  case 7: modes[x & 7] = state; break;
  case 8: counters[8] ^= events; break;
  case 9: return counters[9];
  case 10: total = events; break;
  default: events = 0;
  }
  return state;
}
int run(const unsigned char *code) {
  static const void *const labels[] = {&&inc, &&dec, &&out, &&store, &&end};
  int a = 0;
#define NEXT goto *labels[*code++ % 5]
  NEXT;
inc: a++; events++; NEXT;
dec: a--; state--; NEXT;
out: total += a; NEXT;
store: counters[a & 7] = a; NEXT;
end: return a;
}
int through_pointer(int op, int *p) {
  int *where = &state;
  switch (op) {
  case 1: *where = 1; break;
  case 2: where = p; break;
  case 3: *where += 3; where = &events; break;
  case 4: (*where)--; break;
  case 5: counters[5] = *where; break;
  case 6: modes[1] = *where; break;
  }
  return *where;
}
int main(int argc, char **argv) { return step(argc, 3) + run((unsigned char *)argv[0]) + through_pointer(argc, &argc); }
