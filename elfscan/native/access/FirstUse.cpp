//===- FirstUse.cpp - What each thread does once
//---------------------------===//
//
// Owns which way of a branch a thread takes that finds that it has nothing yet.
//
//===----------------------------------------------------------------------===//

#include "Graph.h"

#include <algorithm>

namespace linemate {

namespace {

/// Ops of a test, its branch included.
constexpr uint32_t MaxTestOfThread = 6;
/// Words of a thread that a function is asked for whether it sets them again.
constexpr uint32_t MaxFirstUses = 64;

} // namespace

/// Does op \p Test of a block, or one behind it, compare with zero, and its
/// branch lead there where the two are equal?
bool Graph::isWayOfZero(std::span<const Op> Ops, uint32_t Test,
                        const Block &From, uint32_t To) const {
  return onZero(Ops, From) == To &&
         std::ranges::any_of(
             Ops.subspan(Test, From.Last - Test),
             [](const Op &O) { return O.Tested != NoReg && !O.Against; });
}

/// Does one way of a branch set a byte of the thread's own storage that the
/// branch tested?  Each thread comes there once: variables of threads are made
/// so.  A wider word is set so where it was compared with a constant, as no
/// number yet is, gets what is none, and the function sets it nowhere else: so
/// a thread gets its number, or a record of its own.  The same is done where
/// the word was zero and a function is called which alone sets it.
bool Graph::isFirstUse(const Plan &P, std::span<const Op> Ops,
                       const Block &From, uint32_t To) {
  auto OfThread = [](const Op &O) -> const MemOperand * {
    const MemOperand &M = O.Mem[0];
    bool Is = O.MemCount == 1 && M.Flags & MemSegment && M.Base == NoReg &&
              M.Index == NoReg;
    return Is ? &M : nullptr;
  };
  std::span<const Op> Way =
      Ops.subspan(Blocks[To].First, Blocks[To].Last - Blocks[To].First);
  uint32_t Begin =
      From.Last - std::min(From.Last - From.First, MaxTestOfThread);
  for (uint32_t I = Begin; I < From.Last; ++I) {
    const MemOperand *Tested = OfThread(Ops[I]);
    if (!Tested || Tested->Kind != Access::Load)
      continue;
    auto Sets = [&](const Op &O) {
      const MemOperand *Set = OfThread(O);
      return Set && (Set->Kind == Access::Store || Set->Kind == Access::Rmw) &&
             (Set->Flags & MemOtherBase) == (Tested->Flags & MemOtherBase) &&
             Set->Disp == Tested->Disp;
    };
    auto SetsFirst = [&](const Op &O) {
      if (!Sets(O) || O.Mem[0].Kind != Access::Store ||
          O.Mem[0].Size != Tested->Size)
        return false;
      return O.StoredAny == ImmReg ? Tested->Size == 1 && O.Imm
                                   : Tested->Size > 1;
    };
    auto Set = std::ranges::find_if(Way, SetsFirst);
    if (Set == Way.end()) {
      if (Tested->Size != sizeof(uint64_t) || Tested->Flags & MemOtherBase ||
          !isWayOfZero(Ops, I, From, To))
        continue;
      auto Setter = P.aloneSetBy(Tested->Disp);
      if (Setter && std::ranges::any_of(Way, [&](const Op &O) {
            return (O.Next == Flow::Call || O.Next == Flow::Jump) &&
                   uint64_t(O.Imm) == *Setter;
          }))
        return true;
      continue;
    }
    if (Tested->Size == 1)
      return true;
    bool Compared =
        std::any_of(Ops.begin() + I, Ops.begin() + From.Last, [](const Op &O) {
          return O.Tested != NoReg || O.AgainstNegative;
        });
    if (Compared && FirstUses++ < MaxFirstUses &&
        std::ranges::count_if(Ops, Sets) == 1)
      return true;
  }
  return false;
}

} // namespace linemate
