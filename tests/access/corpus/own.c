/* Indexes that are the running thread's, and others. */
struct self {
  long pad, id;
};
static _Thread_local long number, given = -1;
static _Thread_local struct self *self;
static long next, shared;
long by_number[64], by_member[64], by_given[64], by_masked[64], by_call[64], by_spilled[64];
static _Thread_local int narrow_number;
long by_shared[64], by_argument[64], by_other_call[64], of_nobody[64], by_hash[64];
long set_up[64];
static _Thread_local long *kept;

void count_by_number(void) { by_number[number]++; }
void count_by_member(void) { by_member[self->id]++; }
void count_by_masked(void) { by_masked[number & 63]++; }
int my_number(void) { return narrow_number; }
long some_number(void) { return number < 0 ? shared : number; }
void count_by_call(void) { by_call[my_number()]++; }
void count_by_other_call(void) { by_other_call[some_number()]++; }
void count_by_spilled(int more) {
  int mine = narrow_number, other = more;
  by_spilled[mine]++;
  by_spilled[mine] += other;
}
void count_by_given(void) {
  if (given < 0)
    given = __atomic_fetch_add(&next, 1, 0);
  by_given[given]++;
}
void count_by_shared(void) { by_shared[shared]++; }
void count_by_argument(long at) { by_argument[at]++; }
void keep(long value) {
  number = value * 3;
  narrow_number = (int)value;
}
void count_by_hash(const unsigned char *text) { by_hash[*text & 63]++; }
void set_up_and_keep(void) {
  long *at = set_up; /* kept by the thread, but what each of them would keep */
  kept = at;
  do
    *at = (long)at;
  while (++at < set_up + 64);
}
void count_by_itself(void) { of_nobody[of_nobody[0]]++; }

int main(int n, char **v) {
  self = (struct self *)v;
  shared = n;
  keep(n);
  count_by_number();
  count_by_member();
  count_by_masked();
  count_by_call();
  count_by_other_call();
  count_by_spilled(n);
  count_by_given();
  count_by_shared();
  count_by_argument(n);
  count_by_hash((const unsigned char *)v[0]);
  count_by_itself();
  set_up_and_keep();
  return 0;
}
