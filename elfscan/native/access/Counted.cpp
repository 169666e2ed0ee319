//===- Counted.cpp - Numbers that are taken from a counter ----------------===//
//
// Owns telling which numbers a function takes from a counter that it moves on
// by one.  Of a counter that all threads count on each takes another number:
// as good as one that it was told, where it does so once.
//
//===----------------------------------------------------------------------===//

#include "Flow.h"

namespace linemate {

static bool isOne(const Value &V) {
  return V.isNumber() && !V.IsAddress && V.isExact() && V.Base == 1;
}

/// Does \p O take a number of a counter by an atomic addition of one?
bool FunctionFlow::takesNumber(const Op &O) const {
  return !LoopDepth && isFollowed(O.Added) && O.Mem[0].Flags & MemAtomic &&
         isOne(Now.Regs[O.Added]);
}

/// Keeps from where \p O loads what may be such a number.
void FunctionFlow::noteCounter(const Op &O, const Effective &E,
                               uint32_t Origin) {
  bool IsWord = E.Where.isNumber() ? E.Where.IsAddress
                                   : E.Where.Kind == ValueKind::Pointee;
  if (O.How == Transfer::Load && !LoopDepth)
    Counters[Origin % Counters.size()] = {
        IsWord && E.Where.isExact() ? Origin : 0, E.Where};
}

/// \p O stores at \p E: where that is what it loaded from there in this block,
/// and one more, a number was taken.  Without a lock around both two threads
/// might take the same one, which programs do not mean.  What is stored may be
/// the number as well: as one of its own, since all threads count from there.
void FunctionFlow::markCounted(const Op &O, const Effective &E,
                               uint32_t Stored) {
  if (LoopDepth || !isFollowed(O.StoredAny))
    return;
  const Value Next = Now.Regs[O.StoredAny];
  uint32_t Origin = Next.Origin;
  const Counter &From = Counters[Origin % Counters.size()];
  if (Origin <= BlockFirst || From.Origin != Origin ||
      !From.Where.same(E.Where))
    return;
  bool IsWord = Next.Kind == ValueKind::Pointee && Next.isExact();
  bool IsMoved =
      Next.isNumber() && !Next.IsAddress && Next.Stride == 1 && Next.IsIndex;
  if (!(IsWord || IsMoved) || (Next.Base & (IsWord ? HeldOffsetMask : -1)) != 1)
    return;
  auto Mark = [&](Value &V) {
    if (V.Origin != Origin)
      return;
    if (V.same(Next)) {
      V = Value();
      V.Origin = Stored;
    }
    V.IsGiven = true;
  };
  for (unsigned R = 0; R < C.Registers; ++R)
    Mark(Now.Regs[R]);
  for (Slot &S : Now.Slots)
    Mark(S.Content);
}

} // namespace linemate
