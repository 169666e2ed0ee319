#include "crew.h"

namespace crew {

static Score Scores[MaxWorkers];

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
        ++Scores[Number].Succeeded;
      else
        ++Scores[Number].Failed;
    }
  }
}

std::uint64_t Crew::done() const {
  std::uint64_t Sum = 0;
  for (const Score &T : Scores)
    Sum += T.Succeeded;
  return Sum;
}

} // namespace crew
