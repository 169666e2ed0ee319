//===- Join.h - What a register holds that two ways lead to -----*- C++ -*-===//
//
// Owns the union of two values: one that covers both, and what a loop makes of
// one round by round.  What they are is in Value.h.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ACCESS_JOIN_H
#define LINEMATE_ACCESS_JOIN_H

#include "Value.h"

#include <utility>

namespace linemate {

/// Is it what its op made, plus a number, in steps or not?
inline bool isFromOne(const Value &V) {
  return V.isNumber() && !V.IsAddress && V.Stride == 1 && V.IsIndex;
}

/// The step of two numbers that are from one op.
inline uint8_t joinSteps(const Value &Old, const Value &New, bool IsLoop) {
  uint64_t Gap = uint64_t(std::max(Old.Base, New.Base)) -
                 uint64_t(std::min(Old.Base, New.Base));
  if (Old.Step == New.Step && !Gap)
    return Old.Step;
  uint64_t Step = Old.Step ? Old.Step : New.Step ? New.Step : Gap;
  bool IsOne = IsLoop && Step && Step <= MaxStep && Gap % Step == 0 &&
               (!New.Step || New.Step == Step);
  return IsOne ? uint8_t(Step) : NoStep;
}

/// The marks of \p R, which is both of them.  What came around a loop changed
/// moves on from what was given.
inline void joinMarks(Value &R, const Value &Old, const Value &New,
                      bool IsLoop) {
  R.IsOwn = Old.IsOwn && New.IsOwn;
  R.IsGiven =
      Old.IsGiven && New.IsGiven && !(IsLoop && Old.Origin != New.Origin);
  R.Bits = std::min(Old.Bits, New.Bits);
  R.OwnStride = Old.givenApart() == New.givenApart() ? Old.givenApart() : 0;
  if (isFromOne(Old) && isFromOne(New))
    R.Step = Old.Origin == New.Origin ? joinSteps(Old, New, IsLoop) : NoStep;
}

/// Whether movedInRounds has to look: as a rule it need not.
inline bool mayMoveInRounds(const Value &Old, const Value &New) {
  return Old.isOpaque() != New.isOpaque() && Old.Origin &&
         Old.Origin == New.Origin;
}

/// What a loop moves on by so many bytes each round from a begin that nothing
/// tells: one of the two is a pointer, the other it as a number, moved on.
inline std::optional<Value> movedInRounds(const Value &Old, const Value &New) {
  if (!mayMoveInRounds(Old, New))
    return {};
  Value R = asSeries(Old), More = asSeries(New);
  for (auto [One, Of] : {std::pair(&R, &Old), std::pair(&More, &New)})
    if (Of->Kind == ValueKind::Pointee)
      One->Step = uint8_t(std::min<uint32_t>(Of->Stride, NoStep));
  if (!isFromOne(R) || !isFromOne(More))
    return {};
  R.Step = joinSteps(R, More, true);
  R.IsOwn = Old.IsOwn && New.IsOwn;
  R.IsGiven = false;
  R.IsStale = Old.IsStale || New.IsStale;
  return R;
}

/// Are they numbers of bytes to elements that data chooses, one of them perhaps
/// always the same?  Code that has a number for what it need not compute, as
/// the hash of nothing, has it for the same table.
inline bool areOffsets(const Value &A, const Value &B) {
  auto IsOffset = [](const Value &V) {
    return V.isNumber() && !V.IsAddress && V.Base >= 0 &&
           (V.isExact() || (V.IsIndex && V.Stride > 1));
  };
  return IsOffset(A) && IsOffset(B) && !(A.isExact() && B.isExact());
}

/// The least value that covers \p Old and \p New.  Two values from one origin
/// are a series, as in a loop that moves a pointer.  \p IsLoop: New came
/// around a loop, so the series begins at Old, whichever way it goes; that the
/// begin then stays is also why joining ends.
inline Value join(const Value &Old, const Value &New, bool IsLoop) {
  if (Old.same(New)) {
    Value R = Old;
    joinMarks(R, Old, New, IsLoop);
    return R;
  }
  if (IsLoop && mayMoveInRounds(Old, New))
    if (auto Moved = movedInRounds(Old, New))
      return *Moved;
  Value Lost;
  Lost.IsStale = Old.IsStale || New.IsStale;
  // Two places behind one pointer are a series, as two in the frame are.
  bool OneHolder = Old.Kind == ValueKind::Pointee && Old.Kind == New.Kind &&
                   !((Old.Base ^ New.Base) & ~HeldOffsetMask);
  if (Old.isOpaque() && New.isOpaque() && !OneHolder) {
    Lost.Origin = Old.Origin;
    Lost.IsOwn = Old.IsOwn && New.IsOwn;
    Lost.IsGiven = Old.IsGiven && New.IsGiven && !IsLoop;
    Lost.Bits = std::min(Old.Bits, New.Bits);
    return Lost;
  }
  if (Old.Kind != New.Kind || Old.Arg != New.Arg ||
      Old.IsAddress != New.IsAddress || Old.IsPage != New.IsPage)
    return Lost;
  if (Old.Base == New.Base && Old.Stride == New.Stride) {
    Value R = Old;
    R.IsStale = Lost.IsStale;
    joinMarks(R, Old, New, IsLoop);
    return R;
  }
  bool OfOthers = Old.isNumber() && Old.Origin != New.Origin;
  if (Old.IsPage || Old.Kind == ValueKind::Unknown ||
      (OfOthers && !areOffsets(Old, New)))
    return Lost;
  uint64_t Gap = New.Base < Old.Base ? uint64_t(Old.Base) - uint64_t(New.Base)
                                     : uint64_t(New.Base) - uint64_t(Old.Base);
  if (Gap > INT32_MAX)
    return Lost;
  Value R = New.Base < Old.Base && !IsLoop ? New : Old;
  R.IsStale = Lost.IsStale;
  joinMarks(R, Old, New, IsLoop);
  R.IsGiven = false; // it moves on from there
  if (OfOthers) {
    R.Origin = 0;
    R.IsIndex = true;
  }
  R.Stride = std::gcd(std::gcd(Old.Stride, New.Stride), uint32_t(Gap));
  return R;
}

} // namespace linemate

#endif // LINEMATE_ACCESS_JOIN_H
