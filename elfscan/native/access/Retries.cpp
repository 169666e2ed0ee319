//===- Retries.cpp - Loops that only try an exchange again ----------------===//
//
// Owns which loops do nothing but wait for an atomic instruction to succeed.
// Flags and registers of x86-64 say so.
//
//===----------------------------------------------------------------------===//

#include "Graph.h"

#include <algorithm>
#include <vector>

namespace linemate {

namespace {

constexpr unsigned MostBlocks = 3; // up to the exchange

/// An atomic instruction of which code asks whether it came first: an exchange,
/// or a compare-and-swap, whose flags say so.
bool tries(const Op &O) {
  return O.MemCount && O.Mem[0].Flags & MemAtomic && O.Traits & KeepsOld;
}

/// The register in which an exchange leaves what was there; NoReg of others.
int8_t oldOf(const Op &O) { return O.Traits & Exchanges ? O.Swapped : NoReg; }

} // namespace

/// Does this loop only try an exchange again until nobody else comes between?
/// Where threads do not meet it is run once: a spin lock is taken, a counter is
/// changed by compare-and-swap.  It is left where what was there is zero, or
/// what was expected; one that does something with what was there is none.
bool Graph::triesAgain(std::span<const Op> Ops, uint32_t Header, uint32_t Loop,
                       uint32_t Handed) const {
  const Op *Exchange = nullptr;
  bool Decides = false; // the flags are its outcome
  uint32_t At = Header;
  for (unsigned Step = 0; Step <= MostBlocks; ++Step) {
    const Block &B = Blocks[At];
    for (const Op &O : Ops.subspan(B.First, B.Last - B.First)) {
      if (tries(O))
        Exchange = &O, Decides = !(O.Traits & Exchanges);
      else if (Exchange && isFollowed(O.Tested) && O.Tested == oldOf(*Exchange))
        Decides = !O.Against;
      else if (&O != &Ops[B.Last - 1] && !keepsFlags(O))
        Decides = false;
    }
    uint32_t Inside = UINT32_MAX, Count = 0, Zero = onZero(Ops, B);
    for (uint32_t To : successors(B))
      if (Mark[To] == Loop)
        Inside = To, ++Count;
    if (Count != 1)
      return false;
    if (Exchange && Decides && Zero != UINT32_MAX && Mark[Zero] != Loop)
      return !isUsed(Ops, Inside, Loop, *Exchange, Handed);
    if (Inside == Header)
      return false;
    At = Inside;
  }
  return false;
}

/// Where a block's branch leads when what was tested is zero, or equal.
uint32_t Graph::onZero(std::span<const Op> Ops, const Block &B) const {
  const Op &Branch = Ops[B.Last - 1];
  std::span<const uint32_t> Ways = successors(B);
  if (Ways.size() != 2 || Branch.Zero == OnZero::Unknown)
    return UINT32_MAX;
  bool FirstIsTarget = Ops[Blocks[Ways[0]].First].Ip == uint64_t(Branch.Imm);
  return Ways[FirstIsTarget == (Branch.Zero == OnZero::Branches) ? 0 : 1];
}

/// Does the loop use what an exchange found there, from block \p From on?  A
/// compare-and-swap does, for what it tries next.  A call may be handed it,
/// unless it is where calls put their result.
bool Graph::isUsed(std::span<const Op> Ops, uint32_t From, uint32_t Loop,
                   const Op &Exchange, uint32_t Handed) const {
  int8_t Old = oldOf(Exchange);
  if (!isFollowed(Old))
    return (Exchange.Traits & Exchanges) != 0;
  std::vector<uint32_t> Seen(1, From);
  for (size_t I = 0; I < Seen.size(); ++I) {
    const Block &B = Blocks[Seen[I]];
    bool IsOver = false; // something else is in the register
    for (const Op &O : Ops.subspan(B.First, B.Last - B.First)) {
      if (O.Src == Old || O.Src2 == Old || O.Stored == Old ||
          O.StoredAny == Old || (O.isCall() && Handed & bit(Old)))
        return true;
      for (const MemOperand &M : std::span(O.Mem).first(O.MemCount))
        if (M.Base == Old || M.Index == Old)
          return true;
      if (O.Dst == Old || O.Clobbers & bit(Old)) {
        IsOver = true;
        break;
      }
    }
    for (uint32_t To : successors(B))
      if (!IsOver && Mark[To] == Loop &&
          std::ranges::find(Seen, To) == Seen.end())
        Seen.push_back(To);
  }
  return false;
}

} // namespace linemate
