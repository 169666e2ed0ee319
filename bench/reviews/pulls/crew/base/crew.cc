#include "crew.h"

namespace crew {

static Tally Tallies[MaxWorkers];

Crew::Crew(unsigned Workers) {
  for (unsigned I = 0; I < Workers && I < MaxWorkers; ++I)
    Threads.emplace_back(&Crew::work, this, I);
}

Crew::~Crew() {
  Jobs.close();
  for (std::thread &T : Threads)
    T.join();
}

void Crew::work(unsigned Number) {
  Job J;
  while (Jobs.pop(J)) {
    for (unsigned Part = 0; Part < 1024; ++Part) {
      if (J(Part))
        ++Tallies[Number].Done;
      else
        ++Tallies[Number].Failed;
    }
  }
}

std::uint64_t Crew::done() const {
  std::uint64_t Sum = 0;
  for (const Tally &T : Tallies)
    Sum += T.Done;
  return Sum;
}

} // namespace crew
