// Functions that return what they are handed, a member or an element of it, and
// what their callers do there.

struct Slot {
  long used, other;
};
struct Table {
  long size;
  Slot *first;
};
Slot slots[8], spare[8];
Table table;
long chosen;

#define PLAIN __attribute__((noinline, noclone))

extern "C" {
PLAIN Slot *element(Slot *from, long at) { return from + at; }
PLAIN long *member(Slot *of) { return &of->other; }
PLAIN Slot *row(Table *of, long at) { return of->first + at; }
PLAIN Slot *narrow(Slot *from, int at) { return from + at; }
PLAIN Slot *row_again(Table *of, long at) { return row(of, at); }
// Of these nothing is told by the arguments alone.
PLAIN Slot *either(Slot *one, Slot *two) { return chosen ? one : two; }
PLAIN Slot *by_third(Slot *from, long, long at) { return from + at; }
PLAIN Slot *by_other(Slot *from, long) { return from + chosen; }
PLAIN Slot *by_part(Slot *from, int at) { return from + at % 5; }
PLAIN Slot *by_mask(Slot *from, int at) { return from + (at & 3); }
PLAIN Slot *by_sum(Slot *from, long at) { return from + at + chosen; }

void use_member() { *member(&slots[2]) = 1; }
void use_number() { element(slots, 3)->other = 1; }
void use_element(long at) { element(slots, at)->other = 1; }
void use_narrow(int at) { narrow(slots, at)->other = 1; }
void use_row(long at) { row(&table, at)->other = 1; }
void use_row_again(long at) { row_again(&table, at)->other = 1; }
void use_either() { either(slots, spare)->used = 1; }
void use_third(long at) { by_third(slots, 3, at)->used = 1; }
void use_other() { by_other(slots, 3)->used = 1; }
void use_part(int at) { by_part(slots, at)->used = 1; }
void use_mask() { by_mask(slots, 7)->used = 1; }
void use_sum() { by_sum(slots, 3)->used = 1; }
}

int main() { return 0; }
