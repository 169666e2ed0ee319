// Elements behind a pointer, at numbers that functions take from counters.
// clang-format off
struct slot { unsigned long hits, bytes; };
__attribute__((noinline)) void lock(void) { __asm__ volatile("" ::: "memory"); }
__attribute__((noinline)) void unlock(void) { __asm__ volatile("" ::: "memory"); }
struct slot *slots;
int next, *others;
long wide;
struct { int rounds, next; } pool;

#define USE(id) slots[id].hits += 2

void by_plain(void) { lock(); int id = next++; unlock(); USE(id); }
void by_new(void) { lock(); int id = ++next; unlock(); USE(id); }
void by_wide(void) { lock(); long id = wide++; unlock(); USE(id); }
void by_member(void) { lock(); unsigned id = pool.next++; unlock(); USE(id); }
void by_masked(void) { lock(); unsigned id = next++; unlock(); USE(id & 15); }
void by_atomic(void) { USE(__atomic_fetch_add(&next, 1, __ATOMIC_RELAXED)); }

// Another variable is raised, by more than one, or none is.
void of_other(void) { lock(); int id = next; pool.next = id + 1; unlock(); USE(id); }
void of_parts(void) { lock(); int id = next; next = id + 8; unlock(); USE(id); }
void of_atomic_parts(void) { USE(__atomic_fetch_add(&next, 8, __ATOMIC_RELAXED)); }
void of_nobody(void) { lock(); int id = next; pool.rounds++; unlock(); USE(id); }
// It was stored before, and what is raised is what came after that.
void of_earlier(void) { int id = next; lock(); next++; unlock(); USE(id); }
// The next one each time around belongs to no thread.
void of_rounds(int n) {
  for (int i = 0; i < n; i++) { lock(); int id = next++; unlock(); USE(id); }
}
int main(void) { return 0; }
