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
  returnsMade(Result);
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
    returnsMade(Value());
    returnsOnly(resultOf(target(O)));
    returnsObject(makesObject(target(O)));
  } else if (O.Next != Flow::Stop && !IsInside) {
    returnsMade(givenBy(Value::address(O.Imm, 0), Index + 1));
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

/// The same of \p Result that may be made of arguments; asked first.
void FunctionFlow::returnsMade(const Value &Result) {
  OneGiven = !HasResult || OneGiven.same(Result) ? Result : Value();
}

std::optional<FromArgument> FunctionFlow::returnsGiven() const {
  const Value &Result = OneGiven;
  FromArgument Found;
  Found.Stride = Result.Stride;
  if (Result.Stride == 1)
    return {};
  if (Result.Kind == ValueKind::Param) {
    Found.Arg = Result.Arg;
    Found.Base = Result.Base;
  } else if (auto Of = Result.wordOfArgument(Current.Row)) {
    Found.Arg = Of->first;
    Found.Word = Of->second;
    Found.IsLoaded = true;
    Found.Base = Result.Base & HeldOffsetMask;
  } else {
    return {};
  }
  if (Found.Stride && (Found.Arg || C.Arguments.size() < 2))
    return {};
  return Found;
}

/// What a call of \p To, which is about to be made, returns of what it is
/// handed; nothing: not known.
Value FunctionFlow::givenBy(const Value &To, uint32_t Origin) {
  const FromArgument *From = Known && To.isNumber() && To.isExact()
                                 ? Known->givenFrom(uint64_t(To.Base))
                                 : nullptr;
  if (!From)
    return Value();
  Value V = madeOf(*From, Origin);
  // An argument that is in the register of results already: the function may be
  // one that returns nothing, and leaves it alone.
  V.IsStale = !From->IsLoaded && !From->Base && !From->Stride &&
              C.Result & bit(C.Arguments[From->Arg]);
  return V;
}

/// Puts what a call of \p To is known to return where it returns it; \p Given
/// as of givenBy.
void FunctionFlow::noteResult(const Value &To, const Value &Given,
                              uint32_t Origin) {
  Value &Result = Now.Regs[std::countr_zero(C.Result)];
  if (Known && Known->isOwn(To.Base))
    Result.IsOwn = true;
  if (Value Same = resultOf(To); Same.Kind != ValueKind::Unknown) {
    Same.Origin = Same.Kind == ValueKind::Pointee ? Origin : 0;
    Result = Same;
  }
  if (!Given.isNothing())
    Result = Given;
}

Value FunctionFlow::madeOf(const FromArgument &From, uint32_t Origin) {
  Value V = Now.Regs[C.Arguments[From.Arg]];
  if (V.IsStale || V.Choice)
    return Value();
  if (From.IsLoaded) {
    Op Load;
    Load.Mem[0].Size = 8;
    V = loaded(Load, {add(V, Value::number(From.Word, 0)), false}, Origin);
    if (V.isOpaque() && !V.Origin)
      V.Origin = Origin;
  }
  if (From.Base)
    V = add(V, Value::number(From.Base, 0));
  if (From.Stride) {
    const Value &Index = Now.Regs[C.Arguments[1]];
    V = add(V, Index.IsStale ? Value() : scale(Index, From.Stride));
  }
  return V;
}

/// The registers that a call of \p To changes, and those that it looks at.
CalleeRegisters FunctionFlow::registersOf(const Value &To) const {
  bool MayKeep = Known && To.isNumber() && To.isExact() &&
                 Special.mayHave(uint64_t(To.Base));
  const CalleeRegisters *Of =
      MayKeep ? Known->sparing(uint64_t(To.Base)) : nullptr;
  return Of ? *Of : CalleeRegisters{0, C.CallerSaved, C.CallerSaved};
}

/// What a call of \p To always returns; unknown: not the same.
Value FunctionFlow::resultOf(const Value &To) const {
  bool IsOne = Known && To.isNumber() && To.isExact();
  return IsOne ? Known->sameFrom(uint64_t(To.Base)) : Value();
}

} // namespace linemate
