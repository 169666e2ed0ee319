#include "crew.h"

#include <cstdio>

int main() {
  std::uint64_t Done;
  {
    crew::Crew Team(8);
    for (unsigned I = 0; I < 1000; ++I)
      Team.submit([I](unsigned Part) { return (I ^ Part) % 7 != 0; });
    Done = Team.done();
  }
  std::printf("%llu\n", static_cast<unsigned long long>(Done));
}
