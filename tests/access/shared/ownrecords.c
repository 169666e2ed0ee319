/* Records of threads, in which another index chooses. */
struct wide {
  long list[4];
  int count[4];
  long hits, more;
} __attribute__((aligned(64)));
struct narrow {
  int at[4];
};
static _Thread_local int slot;
static _Thread_local long mine; /* of another size: one instruction that loads
                                   both says less of them */
static int kind;
static long next;
struct wide records[16], walked[16], both[16];
struct narrow packed[16];
long rows[4][16], of_all[16][8];

void count_in_records(int k) { records[slot].list[k]++; }
void count_in_packed(int k) { packed[slot].at[k]++; }
void count_in_rows(int k) { rows[k][slot]++; }
void count_in_both(void) { both[slot].list[mine]++; }
void count_in_all(int k) { of_all[next][k]++; }
long sum_walked(void) {
  long sum = 0;
  for (long *at = walked[slot].list; at < walked[slot].list + 4; at++)
    sum += *at;
  return sum;
}

int main(int n, char **v) {
  slot = n;
  mine = n & 3;
  kind = (int)(long)v & 3;
  next = n;
  count_in_records(kind);
  count_in_packed(kind);
  count_in_rows(kind);
  count_in_both();
  count_in_all(kind);
  return (int)sum_walked();
}
