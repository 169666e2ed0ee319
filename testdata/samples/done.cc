// A static array with an element for each thread; STRIDE elements lie between
// those in use.
#include <thread>
#include <vector>
#ifndef STRIDE
#define STRIDE 1
#endif
alignas(64) static volatile unsigned done[64];
int main() {
  std::vector<std::thread> crew;
  for (int me = 0; me < 2; me++)
    crew.emplace_back([me] {
      for (int i = 0; i < 60000000; i++)
        done[me * STRIDE] = done[me * STRIDE] + 1;
    });
  for (auto &one : crew)
    one.join();
}
