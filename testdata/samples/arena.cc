// Threads of an arena of TBB count in the slot that the arena gave them; PAD
// makes a slot a line.
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#ifdef PAD
struct alignas(64) Slot {
#else
struct Slot {
#endif
  volatile long odd;
};
alignas(64) static Slot slots[8];
int main() {
  tbb::task_arena arena(2);
  arena.execute([] {
    using Range = tbb::blocked_range<long>;
    tbb::parallel_for(Range(0, 160'000'000), [](const Range &part) {
      Slot &mine = slots[tbb::this_task_arena::current_thread_index()];
      for (long i = part.begin(); i != part.end(); ++i)
        if ((i * 2654435761u >> 7) & 1)
          mine.odd = mine.odd + 1;
    });
  });
  return slots[0].odd + slots[1].odd > 0 ? 0 : 1;
}
