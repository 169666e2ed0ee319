//===- SleepsAgain.cpp - Loops that only sleep again after a signal -------===//
//
// Owns which loops do nothing but repeat a sleep that a signal has ended, as
// the standard library's own and most programs' do.  They are left at once.
//
//===----------------------------------------------------------------------===//

#include "Decoder.h"
#include "Graph.h"

#include <algorithm>
#include <bit>

namespace linemate {

namespace {

constexpr uint8_t Interrupted = 4;  // EINTR, on all architectures of Linux
constexpr size_t MostSleeping = 8;  // blocks of such a loop
constexpr uint32_t MaxPrologue = 4; // ops until the frame has its register

bool isFrame(std::span<const Op> Ops, int8_t Reg, const Convention &C) {
  return Reg == C.StackPointer ||
         std::ranges::any_of(
             Ops.first(std::min<size_t>(Ops.size(), MaxPrologue)),
             [&](const Op &O) {
               return O.Dst == Reg && O.How == Transfer::Move &&
                      O.Src == C.StackPointer;
             });
}

/// Is this the number of the last error, behind the address that a call of the
/// C library returned, compared with that of a signal there or behind?
bool asksForSignal(std::span<const Op> Ops, uint32_t At, const MemOperand &M) {
  if (M.Kind != Access::Load || M.Index != NoReg || M.Disp || M.Size != 4 ||
      M.Flags & (MemPcRelative | MemSegment))
    return false;
  return std::ranges::any_of(
      Ops.subspan(At, std::min<size_t>(Ops.size() - At, 2)), [](const Op &O) {
        return O.Tested != NoReg && O.Against == Interrupted;
      });
}

} // namespace

/// Does the loop that is Body only sleep again?  What it asks is what the sleep
/// returned and the number of the error, and all that it keeps is in its frame.
bool Graph::sleepsAgain(const Plan &P, std::span<const Op> Ops,
                        const Convention &C) const {
  if (P.Sleepers.empty() || Body.size() > MostSleeping)
    return false;
  bool Sleeps = false;
  for (uint32_t B : Body)
    for (uint32_t I = Blocks[B].First; I < Blocks[B].Last; ++I) {
      const Op &O = Ops[I];
      if (O.IsUnknown || O.Traits & SystemCall)
        return false;
      if (O.Next == Flow::Call) {
        if (std::ranges::binary_search(P.Sleepers, uint64_t(O.Imm)))
          Sleeps = true;
        else if (I + 1 >= Ops.size() || !Ops[I + 1].MemCount ||
                 bit(Ops[I + 1].Mem[0].Base) != C.Result ||
                 !asksForSignal(Ops, I + 1, Ops[I + 1].Mem[0]))
          return false;
        continue;
      }
      if (O.isCall())
        return false;
      for (const MemOperand &M : std::span(O.Mem).first(O.MemCount))
        if (M.Kind != Access::None && M.Kind != Access::Address &&
            !isFrame(Ops, M.Base, C) && !asksForSignal(Ops, I, M))
          return false;
    }
  return Sleeps;
}

} // namespace linemate
