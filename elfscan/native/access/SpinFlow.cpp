//===- SpinFlow.cpp - What the data flow tells of spin locks --------------===//
//
// Owns which words the ops name that take a lock or give it back, and with
// which numbers.  Where a word is held is SpinLocks.cpp's.
//
//===----------------------------------------------------------------------===//

#include "Flow.h"

#include <bit>

namespace linemate {

/// What a memory operand names, where that is one word of static storage or
/// behind a pointer that is known.
SpinLocks::Word FunctionFlow::wordAt(const MemOperand &M,
                                     const Effective &E) const {
  const Value &V = E.Where;
  if (M.Flags & (MemSegment | MemRepeated) || M.Size > 8 || !V.isExact())
    return {};
  if (V.Kind == ValueKind::Pointee)
    return {uint64_t(V.Base), M.Size};
  if (V.Kind == ValueKind::Param && V.Base >= 0 && V.Base <= HeldOffsetMask) {
    Value Whole = Value::wordOf(Current.Row, V.Arg, WholeArgument, 0);
    return Whole.Kind == ValueKind::Pointee
               ? SpinLocks::Word{uint64_t(Whole.Base | V.Base), M.Size}
               : SpinLocks::Word();
  }
  ZeroRanges::Variable Static = variableAt(M, E);
  return {Static.Address, Static.Size};
}

/// The number that is in a register, in its lower bytes at least.
std::optional<int64_t> FunctionFlow::numberIn(const Op &O, int8_t Reg) const {
  if (isFollowed(Reg) && Reg == NarrowReg)
    return NarrowNumber;
  Value V = reg(O, Reg);
  if (!V.isNumber() || V.IsAddress || !V.isExact())
    return {};
  return V.Base;
}

/// What an exchange puts into \p What: what it found there is zero, where it
/// took the word.
std::optional<int64_t> FunctionFlow::swapped(const Op &O,
                                             SpinLocks::Word What) const {
  if (auto Number = numberIn(O, O.Swapped))
    return Number;
  const Value &V = Now.Regs[O.Swapped];
  if (V.isLoaded() && V.Origin && Spins.isTriedBy(V.Origin - 1, What))
    return 0;
  return {};
}

/// \p O, which is op number \p Index, changes a word that may be a lock.
void FunctionFlow::spinChange(const Op &O, uint32_t Index,
                              SpinLocks::Word What) {
  if (O.Mem[0].Kind == Access::Store) {
    auto Number =
        O.StoredAny == NoReg ? std::nullopt : numberIn(O, O.StoredAny);
    Spins.stores(Index, BlockNumber, What, Number == 0);
    return;
  }
  bool Atomic = O.Mem[0].Flags & MemAtomic;
  if (isFollowed(O.Swapped)) {
    auto Number = swapped(O, What);
    if (Number.value_or(0))
      Spins.tries(Index, BlockNumber, What, O.Swapped);
    else
      Spins.stores(Index, BlockNumber, What, Number == 0);
  } else if (Atomic && isFollowed(O.Proposed)) {
    int8_t Expected = int8_t(std::countr_zero(C.Result));
    if (numberIn(O, O.Proposed).value_or(0) && numberIn(O, Expected) == 0)
      Spins.tries(Index, BlockNumber, What, NoReg);
    else
      Spins.stores(Index, BlockNumber, What, false);
  } else if (Atomic && isFollowed(O.Added) && numberIn(O, O.Added) == 1) {
    Spins.draws(Index, What);
  } else {
    Spins.stores(Index, BlockNumber, What, false);
  }
}

bool FunctionFlow::callsOutlined(std::span<const Op> Ops) const {
  return Known && !Known->Outlined.empty() &&
         std::ranges::any_of(Ops, [&](const Op &O) {
           return O.Next == Flow::Call && Known->outlined(uint64_t(O.Imm));
         });
}

/// What \p O does as spinChange says it of instructions, where it calls one of
/// the functions that stand for them.
std::optional<FunctionFlow::OutlinedChange>
FunctionFlow::outlinedChange(const Op &O) const {
  const OutlinedAtomic *Of = Known && O.Next == Flow::Call
                                 ? Known->outlined(uint64_t(O.Imm))
                                 : nullptr;
  if (!Of)
    return std::nullopt;
  MemOperand M;
  M.Size = Of->Size;
  SpinLocks::Word What = wordAt(M, {Now.Regs[C.Arguments[Of->Word]], false});
  if (!What.Size)
    return std::nullopt;
  auto New = numberIn(O, C.Arguments[Of->New]);
  bool OfZero = !Of->Compares || numberIn(O, C.Arguments[0]) == 0;
  return OutlinedChange{What, OfZero && New.value_or(0),
                        !Of->Compares && New == 0};
}

void FunctionFlow::waitTest(const Op &O, uint32_t Index, const Effective &E) {
  WaitedWords::Place At;
  if (O.MemCount) {
    const MemOperand &M = O.Mem[0];
    if (E.Where.Kind == ValueKind::Stack) {
      At.OnStack = E.Where.isExact();
      At.Offset = E.Where.Base;
    } else if (auto Static = variableAt(M, E); Static.Size) {
      At.What = {Static.Address, Static.Size};
    }
  }
  uint32_t Does = O.Next == Flow::Call ? P.toWord(uint64_t(O.Imm)) : 0;
  const Value &Handed = Now.Regs[C.Arguments[0]];
  if (Does && Handed.isNumber() && Handed.IsAddress && Handed.isExact() &&
      P.inData(Handed.Base)) {
    uint32_t Size = Does & LoadsByte ? 1 : sizeof(int);
    At.Handed = {uint64_t(Handed.Base), Size};
    if (!(Does & StoresWord))
      At.ReturnedIn = int8_t(std::countr_zero(C.Result));
  }
  Waits.sees(O, Index, BlockNumber, At);
}

void FunctionFlow::spinTest(const Op &O, uint32_t Index, const Effective &E) {
  SpinLocks::Word What = O.MemCount ? wordAt(O.Mem[0], E) : SpinLocks::Word();
  if (What.Size && O.How == Transfer::Load)
    Spins.loads(Index, What);
  else if (What.Size &&
           (O.Mem[0].Kind == Access::Store || O.Mem[0].Kind == Access::Rmw))
    spinChange(O, Index, What);
  auto MadeBy = [&](int8_t Reg) {
    bool IsMade =
        isFollowed(Reg) && Now.Regs[Reg].isLoaded() && Now.Regs[Reg].Origin;
    return IsMade ? Now.Regs[Reg].Origin - 1 : UINT32_MAX;
  };
  if (O.Compared != NoReg)
    Spins.compares(Index, MadeBy(O.Compared), MadeBy(O.ComparedTo),
                   O.MemCount ? What : SpinLocks::Word());
  Spins.sees(O, Index, BlockNumber);
  if (auto Of = outlinedChange(O); Of && Of->Takes)
    Spins.tries(Index, BlockNumber, Of->What,
                int8_t(std::countr_zero(C.Result)));
  else if (Of)
    Spins.stores(Index, BlockNumber, Of->What, Of->Clears);
  if (isFollowed(O.NarrowTo)) {
    NarrowReg = O.NarrowTo;
    NarrowNumber = O.Imm & 0xffff;
  } else if (Index == BlockFirst || O.isCall() || O.Dst == NarrowReg ||
             O.Clobbers & bit(NarrowReg)) {
    NarrowReg = NoReg;
  }
}

} // namespace linemate
