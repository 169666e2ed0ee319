// Functions that return one static address, and others that do not quite.
#include <atomic>
#include <cstdlib>

#define OUT_OF_LINE __attribute__((noinline, noclone))

struct Table {
  long first, counted, handed, last;
  OUT_OF_LINE void hand(long n) {
    handed += n;
    asm volatile("" ::: "memory");
  }
};

Table plain, chained, jumped, one, other, made_late, overwritten, member;
static Table *kept;

OUT_OF_LINE Table *get_plain() {
  asm volatile("");
  return &plain;
}
OUT_OF_LINE Table *get_chained() {
  asm volatile("");
  return &chained;
}
OUT_OF_LINE Table *get_through_call() {
  Table *found = get_chained();
  asm volatile("" ::: "memory");
  return found;
}
OUT_OF_LINE Table *get_jumped() {
  asm volatile("");
  return &jumped;
}
OUT_OF_LINE Table *get_through_jump() {
  asm volatile("");
  return get_jumped();
}
OUT_OF_LINE std::atomic<long> *get_member() {
  asm volatile("");
  return reinterpret_cast<std::atomic<long> *>(&member.counted);
}

struct Guarded {
  long first, counted;
  Guarded() : first(std::rand()), counted(std::rand()) {}
};
OUT_OF_LINE Guarded &guarded() {
  static Guarded only;
  return only;
}

// Near misses.
OUT_OF_LINE Table *get_either(int n) {
  asm volatile("");
  return n ? &one : &other;
}
OUT_OF_LINE Table *get_made(int n) {
  if (n) {
    asm volatile("" ::: "memory");
    return &made_late;
  }
  return static_cast<Table *>(std::calloc(1, sizeof(Table)));
}
OUT_OF_LINE Table *get_kept() {
  asm volatile("");
  return kept;
}
OUT_OF_LINE Table *get_overwritten() {
  asm volatile("");
  return &overwritten;
}

extern "C" {
OUT_OF_LINE void use_plain(long n) { get_plain()->counted += n; }
OUT_OF_LINE void use_call(long n) { get_through_call()->counted += n; }
OUT_OF_LINE void use_jump(long n) { get_through_jump()->counted += n; }
OUT_OF_LINE void use_member(long n) { get_member()->fetch_add(n); }
OUT_OF_LINE void use_guarded(long n) { guarded().counted += n; }
OUT_OF_LINE void use_handed(long n) { get_plain()->hand(n); }
OUT_OF_LINE void use_either(int n) { get_either(n)->counted += n; }
OUT_OF_LINE void use_made(int n) { get_made(n)->counted += n; }
OUT_OF_LINE void use_kept(long n) { get_kept()->counted += n; }
OUT_OF_LINE void use_overwritten(long n) {
  Table *found = get_overwritten();
  found = reinterpret_cast<Table *>(reinterpret_cast<long>(found) ^ n);
  found->counted += n;
}
}

int main(int n, char **) {
  kept = n > 1 ? &one : get_either(n);
  use_plain(n);
  use_call(n);
  use_jump(n);
  use_member(n);
  use_guarded(n);
  use_handed(n);
  use_either(n);
  use_made(n);
  use_kept(n);
  use_overwritten(n);
  return 0;
}
