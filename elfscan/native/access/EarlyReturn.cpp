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

/// Does a way lead to a return soon: without a branch, save one that checks the
/// stack, much code or more calls than these, of which one may be the end?
bool Graph::returnsSoon(std::span<const Op> Ops, uint32_t To,
                        uint32_t Calls) const {
  for (uint32_t Seen = 0;;) {
    const Block &B = Blocks[To];
    Seen += B.Last - B.First;
    if (Seen > MaxReturn)
      return false;
    for (uint32_t I = B.First; I < B.Last; ++I)
      if (Ops[I].isCall() && Calls-- == 0)
        return false;
    std::span<const uint32_t> Ways = successors(B);
    const Op &Last = Ops[B.Last - 1];
    if (Ways.empty())
      return Last.Next == Flow::Return || (Last.Next == Flow::Jump && Calls);
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

/// Is a way the one that returns at once, and the other more than a last call?
/// `if (last) stop();` at a function's end is no guard.
bool Graph::returnsEarly(std::span<const Op> Ops, uint32_t To,
                         uint32_t Other) const {
  return returnsSoon(Ops, To, 0) && !returnsSoon(Ops, Other, 1);
}

} // namespace linemate
