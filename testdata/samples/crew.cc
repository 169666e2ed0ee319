// What the workers of a pool have done, in a std::deque that grew with them;
// PAD gives each worker's record a line.
#include <cstdio>
#include <deque>
#include <thread>
#include <vector>
#ifdef PAD
struct alignas(64) Done {
#else
struct Done {
#endif
  volatile long jobs = 0;
  volatile double seconds = 0;
};
class Crew {
  std::deque<Done> done;
  std::vector<std::thread> threads;

  static void run(Done &mine) {
    for (long i = 0; i < 90'000'000; ++i) {
      mine.jobs = mine.jobs + 1;
      mine.seconds = mine.seconds + 1e-9;
    }
  }

public:
  void hire() {
    done.emplace_back();
    threads.emplace_back(run, std::ref(done.back()));
  }
  void finish() {
    for (auto &thread : threads)
      thread.join();
    for (const auto &one : done)
      std::printf("%ld %.3f\n", one.jobs, one.seconds);
  }
};
int main() {
  Crew crew;
  crew.hire();
  crew.hire();
  crew.finish();
}
