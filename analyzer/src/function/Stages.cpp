//===- Stages.cpp - Stages of a round that all threads take ---------------===//
//
// Owns the walk over the graph of a function that waits for all threads in
// more than one place.
//
//===----------------------------------------------------------------------===//

#include "Stages.h"

#include "llvm/ADT/StringSwitch.h"

#include <numeric>

using namespace clang;

namespace linemate {

static constexpr uint32_t Unseen = UINT32_MAX;

bool waitsForAll(llvm::StringRef QualifiedName) {
  return llvm::StringSwitch<bool>(QualifiedName)
      .Cases("pthread_barrier_wait", "omp barrier", true)
      .Case("std::barrier::arrive_and_wait", true)
      .Default(false);
}

void Stages::count(const CFG &Graph) {
  if (Waits.size() < 2)
    return;
  std::vector<uint32_t> Passed(Graph.getNumBlockIDs());
  for (unsigned Block : Waits)
    ++Passed[Block];
  First.assign(Graph.getNumBlockIDs(), Unseen);
  const CFGBlock &Entry = Graph.getEntry();
  First[Entry.getBlockID()] = 0;
  std::vector<const CFGBlock *> Next = {&Entry};
  int64_t Round = 0;
  while (!Next.empty()) {
    const CFGBlock &B = *Next.back();
    Next.pop_back();
    int64_t Behind = int64_t(First[B.getBlockID()]) + Passed[B.getBlockID()];
    for (const CFGBlock::AdjacentBlock &Way : B.succs()) {
      const CFGBlock *To = Way.getReachableBlock();
      if (!To)
        continue;
      if (uint32_t &Then = First[To->getBlockID()]; Then == Unseen) {
        Then = uint32_t(Behind);
        Next.push_back(To);
      } else {
        Round = std::gcd(Round, Behind - int64_t(Then));
      }
    }
  }
  Number = Round <= UINT8_MAX ? unsigned(Round) : 0;
}

unsigned Stages::number(unsigned Block) const {
  return Number && First[Block] != Unseen ? Number : 0;
}

} // namespace linemate
