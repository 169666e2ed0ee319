// A barrier that spins: count and sense are written by all who come, and the
// work between is each thread's own.
#include <atomic>
#include <thread>
struct alignas(64) Meeting {
  std::atomic<int> missing{2};
  std::atomic<bool> sense{false};
  void wait(bool &mine) {
    mine = !mine;
    if (missing.fetch_sub(1) == 1) {
      missing = 2;
      sense.store(mine);
    } else {
      while (sense.load() != mine)
        std::this_thread::yield();
    }
  }
};
static Meeting meeting;
static void work(unsigned seed) {
  bool mine = false;
  volatile unsigned own = seed;
  for (int round = 0; round < 3000; ++round) {
    for (int i = 0; i < 60000; ++i)
      own = own * 5 + 1;
    meeting.wait(mine);
  }
}
int main() {
  std::thread other(work, 1);
  work(2);
  other.join();
}
