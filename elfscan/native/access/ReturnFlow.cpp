//===- ReturnFlow.cpp - What a function returns ---------------------------===//
//
// Owns what all ways out of a function have in common, and what calls of such
// functions return.
//
//===----------------------------------------------------------------------===//

#include "Flow.h"

#include <algorithm>
#include <bit>

namespace linemate {

void FunctionFlow::returned() {
  const Value &Result = Now.Regs[std::countr_zero(C.Result)];
  Returned = std::max(Returned, Result.IsOwn ? Returns::Own : Returns::Other);
  bool IsData = Result.isNumber() && Result.IsAddress && !Result.IsPage &&
                Result.isExact() && P.inData(Result.Base);
  bool IsWord = Result.isOfThread() && Result.isExact() &&
                !(Result.Base & HeldOffsetMask);
  returnsOnly(IsData   ? Value::address(Result.Base, 0)
              : IsWord ? Result
                       : Value());
  // Nothing is returned where there was no memory.
  bool IsNothing = Result.isNumber() && Result.isExact() && !Result.Base;
  uint64_t Maker = uint64_t(Result.Base & ~HeldBit) >> HeldOffsetBits;
  bool IsNew = Result.Kind == ValueKind::Pointee && Result.isLoaded() &&
               Maker - Current.Begin < Current.End - Current.Begin;
  if (!IsNothing)
    returnsObject(IsNew);
}

/// Whether what a call of \p To returns is a new object.
bool FunctionFlow::makesObject(const Value &To) const {
  return To.isNumber() && To.isExact() &&
         (std::ranges::binary_search(P.NewResults, uint64_t(To.Base)) ||
          (Known && Known->isNew(uint64_t(To.Base))));
}

void FunctionFlow::returnsObject(bool IsNew) {
  bool IsAlways = IsNew && MadeHere != NewObject::Other;
  MadeHere = IsAlways ? NewObject::Always : NewObject::Other;
}

/// A jump out of the function returns what the code there does.
void FunctionFlow::returnsFrom(const Op &O, uint32_t Index) {
  bool IsInside = uint64_t(O.Imm) - Current.Begin < Current.End - Current.Begin;
  if (O.Next == Flow::IndirectJump) {
    if (G.isSwitch(Index))
      return;
    returnsOnly(resultOf(target(O)));
    returnsObject(makesObject(target(O)));
  } else if (O.Next != Flow::Stop && !IsInside) {
    returnsOnly(resultOf(Value::address(O.Imm, 0)));
    returnsObject(makesObject(Value::address(O.Imm, 0)));
  }
}

/// One of the ways out returns \p Result; unknown: something else.
void FunctionFlow::returnsOnly(const Value &Result) {
  OneResult = !HasResult || OneResult.same(Result) ? Result : Value();
  HasResult = true;
}

/// A descriptor's function leaves all registers alone but the one in which it
/// is handed its descriptor's address: that becomes a distance from the
/// thread's own pointer.
bool FunctionFlow::callsDescriptor(const Op &O) const {
  const Value &At = Now.Regs[std::countr_zero(C.Result)];
  return O.Next == Flow::IndirectCall && At.isNumber() && At.IsAddress &&
         At.isExact() && P.slot(At.Base) == Descriptor;
}

/// What a call of \p To always returns; unknown: not the same.
Value FunctionFlow::resultOf(const Value &To) const {
  bool IsOne = Known && To.isNumber() && To.isExact();
  return IsOne ? Known->sameFrom(uint64_t(To.Base)) : Value();
}

} // namespace linemate
