//===- Retries.cpp - Loops that only try an exchange again ----------------===//
//
// Owns which loops do nothing but wait for an atomic instruction to succeed.
// Flags and registers of x86-64 say so.
//
//===----------------------------------------------------------------------===//

#include "Decoder.h"
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

constexpr unsigned MostAsked = 16; // blocks behind an exchange

enum class Fate : uint8_t { Kept, Gone, Used };

/// Does an instruction give a register a value that has nothing to do with the
/// one before?
bool replaces(const Op &O, int8_t Reg) {
  if (O.Dst != Reg || O.Width < 4 || O.Src == Reg || O.Src2 == Reg)
    return false;
  switch (O.How) {
  case Transfer::Constant:
  case Transfer::Address:
  case Transfer::Move:
    return true;
  case Transfer::Lea:
  case Transfer::Load:
    return O.Mem[0].Base != Reg && O.Mem[0].Index != Reg;
  default:
    return false;
  }
}

/// What an instruction does to a value in a register; of what is not known it
/// uses it.
Fate fateAt(const Op &O, int8_t Reg, const Convention &C) {
  if (replaces(O, Reg))
    return Fate::Gone;
  if (O.IsUnknown || O.Traits & SystemCall || O.Src == Reg || O.Src2 == Reg)
    return Fate::Used;
  if (O.isCall())
    return bit(Reg) & O.Named ||
                   std::ranges::find(C.Arguments, Reg) != C.Arguments.end()
               ? Fate::Used
           : C.CallerSaved & bit(Reg) ? Fate::Gone
                                      : Fate::Kept;
  if (O.Next == Flow::Stop)
    return Fate::Gone;
  if (O.Next == Flow::Return)
    return C.CallerSaved & ~C.Results & bit(Reg) ? Fate::Gone : Fate::Used;
  if (O.Next == Flow::IndirectJump || (O.Named | O.Clobbers) & bit(Reg))
    return Fate::Used;
  // String instructions name no register.
  for (const MemOperand &M : std::span(O.Mem).first(O.MemCount))
    if (M.Flags & (MemRepeated | MemSegment) || M.Base == Reg || M.Index == Reg)
      return Fate::Used;
  return O.Traits & StepsBases ? Fate::Used : Fate::Kept;
}

} // namespace

bool Graph::onlyStores(std::span<const Op> Ops, uint32_t At,
                       const Convention &C) const {
  int8_t Old = oldOf(Ops[At]);
  if (!isFollowed(Old) || !tries(Ops[At]) || Ops[At].Mem[0].Base == Old ||
      Ops[At].Mem[0].Index == Old)
    return false;
  std::vector<uint32_t> Seen(1, BlockOf[At]);
  uint32_t First = At + 1;
  for (size_t I = 0; I < Seen.size(); ++I) {
    const Block &B = Blocks[Seen[I]];
    Fate Of = Fate::Kept;
    for (uint32_t Row = I ? B.First : First; Row < B.Last; ++Row)
      if (Of = fateAt(Ops[Row], Old, C); Of != Fate::Kept)
        break;
    if (Of == Fate::Used)
      return false;
    if (Of == Fate::Gone)
      continue;
    // Where it goes on out of the function, somebody may ask.
    std::span<const uint32_t> Ways = successors(B);
    const Op &Last = Ops[B.Last - 1];
    if (Ways.size() < (Last.Next == Flow::Branch ? 2 : 1))
      return false;
    for (uint32_t To : Ways)
      if (std::ranges::find(Seen, To) == Seen.end())
        Seen.push_back(To);
    if (Seen.size() > MostAsked)
      return false;
  }
  return true;
}

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
