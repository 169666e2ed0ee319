//===- Bounds.cpp - Which way of a branch is out of an array --------------===//
//
// Owns how compilers ask whether a number is in bounds, and make an address of
// it.
//
//===----------------------------------------------------------------------===//

#include "Bounds.h"

#include <algorithm>

namespace linemate {

namespace {

/// Ops between a test and its branch, which compilers put there.
constexpr uint32_t MaxSinceComparison = 4;
/// Ops of the way in bounds until the number is used.
constexpr uint32_t MaxToUse = 16;

/// The comparison with a constant that the branch at the end of a block asks
/// about, or null.
const Op *comparison(const Block &B, std::span<const Op> Ops) {
  uint32_t Last = B.Last - 1;
  for (uint32_t I = Last; I-- > B.First && Last - I <= MaxSinceComparison;) {
    const Op &O = Ops[I];
    if (O.Traits & Compares)
      return O.Traits & HasSmall && O.Small > 0 && isFollowed(O.First)
                 ? &O
                 : nullptr;
    if (!keepsFlags(O) || O.isCall())
      return nullptr;
  }
  return nullptr;
}

/// The registers that an op makes its result of.
uint32_t sources(const Op &O) {
  uint32_t From = bit(O.Src) | bit(O.Src2) | bit(O.Factor);
  if (O.How == Transfer::Lea)
    From |= bit(O.Mem[0].Base) | bit(O.Mem[0].Index);
  return From;
}

/// Is memory used, or jumped to, at an address that is made of \p Reg?
bool choosesPlace(const Graph &G, std::span<const Op> Ops, const Block &B,
                  int8_t Reg) {
  uint32_t Made = bit(Reg);
  for (uint32_t I = B.First; I < B.Last && I - B.First < MaxToUse && Made;
       ++I) {
    const Op &O = Ops[I];
    if (O.Next == Flow::IndirectJump)
      return G.isSwitch(I);
    if (O.isCall())
      return false;
    bool Computes = O.How == Transfer::Lea;
    for (uint32_t M = 0; M < O.MemCount && !Computes; ++M)
      if (Made & (bit(O.Mem[M].Base) | bit(O.Mem[M].Index)))
        return true;
    bool From = Made & sources(O);
    Made &= ~(O.Clobbers | (O.Dst == NoReg ? 0 : bit(O.Dst)));
    if (From)
      Made |= bit(O.Dst) | (O.Clobbers & bit(O.First));
  }
  return false;
}

/// Is a block no more than what aligns the next one, to which a branch falls
/// through?
bool isPadding(const Block &B, std::span<const Op> Ops) {
  return std::ranges::all_of(Ops.subspan(B.First, B.Last - B.First),
                             &Op::idles);
}

/// The successor of block number \p B that a number leads to which is too large
/// for what the other successor does with it; UINT32_MAX none.  Comparisons
/// without a sign alone tell: a loop counts with one as a rule.
uint32_t outOfBounds(const Graph &G, std::span<const Op> Ops, uint32_t B) {
  const Block &Own = G.blocks()[B];
  const Op &Branch = Ops[Own.Last - 1];
  std::span<const uint32_t> Ways = G.successors(Own);
  if (Branch.Next != Flow::Branch || !Branch.Unsigned || Ways.size() != 2)
    return UINT32_MAX;
  const Op *Test = comparison(Own, Ops);
  if (!Test)
    return UINT32_MAX;
  bool TakenIsOut =
      Branch.Order == OnOrder::Above || Branch.Order == OnOrder::AboveOrSame;
  bool FirstIsTaken = Ops[G.blocks()[Ways[0]].First].Ip == uint64_t(Branch.Imm);
  uint32_t Out = Ways[FirstIsTaken == TakenIsOut ? 0 : 1];
  uint32_t In = Ways[FirstIsTaken == TakenIsOut ? 1 : 0];
  bool Chooses = choosesPlace(G, Ops, G.blocks()[In], Test->First) &&
                 !choosesPlace(G, Ops, G.blocks()[Out], Test->First);
  return Chooses ? Out : UINT32_MAX;
}

} // namespace

void findOutOfBounds(const Graph &G, std::span<const Op> Ops,
                     std::vector<uint8_t> &Out) {
  std::span<const Block> Blocks = G.blocks();
  Out.assign(Blocks.size(), 0);
  for (uint32_t B = 0; B < Blocks.size(); ++B)
    if (uint32_t To = outOfBounds(G, Ops, B); To < Blocks.size())
      Out[To] = 1;
  for (uint32_t B = 0; B < Blocks.size(); ++B)
    if (Out[B] && !std::ranges::all_of(G.predecessors(B), [&](uint32_t From) {
          return G.successors(Blocks[From]).size() == 2 ||
                 isPadding(Blocks[From], Ops);
        }))
      Out[B] = 0;
}

} // namespace linemate
