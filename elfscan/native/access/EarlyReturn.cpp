//===- EarlyReturn.cpp - Ways that return at once -------------------------===//
//
// Owns which ways of a branch do little more than return.
//
//===----------------------------------------------------------------------===//

#include "Graph.h"

namespace linemate {

namespace {

/// Ops of a way that returns at once, what restores registers included.
constexpr uint32_t MaxReturn = 16;

} // namespace

/// Does a way lead to a return at once: without a branch, save one that checks
/// the stack, a call or much code?
bool Graph::returnsAtOnce(std::span<const Op> Ops, uint32_t To) const {
  for (uint32_t Seen = 0;;) {
    const Block &B = Blocks[To];
    Seen += B.Last - B.First;
    if (Seen > MaxReturn)
      return false;
    for (uint32_t I = B.First; I < B.Last; ++I)
      if (Ops[I].isCall())
        return false;
    std::span<const uint32_t> Ways = successors(B);
    if (Ways.empty())
      return Ops[B.Last - 1].Next == Flow::Return;
    uint32_t Alive = UINT32_MAX;
    for (uint32_t Way : Ways) {
      if (Ends[Way])
        continue;
      if (Alive != UINT32_MAX)
        return false;
      Alive = Way;
    }
    if (Alive == UINT32_MAX)
      return false;
    To = Alive;
  }
}

} // namespace linemate
