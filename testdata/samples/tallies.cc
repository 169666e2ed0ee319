// Elements of a vector, one for each thread.
#include <thread>
#include <vector>
struct Tally {
  long hits = 0;
#ifdef PAD
  char pad[64 - sizeof(long)];
#endif
};
static void count(std::vector<Tally> &all, int me) {
  for (long i = 0; i < 240000000; i++) {
    volatile long &mine = all[me].hits;
    mine = mine + 1;
  }
}
int main() {
  std::vector<Tally> all(8);
  std::thread a(count, std::ref(all), 2), b(count, std::ref(all), 3);
  a.join(), b.join();
}
