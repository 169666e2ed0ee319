#include "stages.h"

#include <cstdio>
#include <thread>

int main() {
  std::thread Cutter(lathe::cut, 1000000L);
  std::thread Polisher(lathe::polish);
  Cutter.join();
  Polisher.join();
  std::printf("%ld, %zu chunks\n", lathe::finished(), lathe::Nodes.chunks());
}
