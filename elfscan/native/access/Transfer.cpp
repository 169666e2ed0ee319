//===- Transfer.cpp - What one op computes --------------------------------===//
//
// Owns the values that an op's operands name and that it leaves in its
// destination register.  Order and memory are in Flow.cpp.
//
//===----------------------------------------------------------------------===//

#include "Flow.h"

namespace linemate {

/// Addresses of files move by whole pages, of at least so many bytes.
static constexpr int64_t MinPageBytes = 4096;

Value FunctionFlow::reg(const Op &O, int8_t Reg) const {
  if (isFollowed(Reg)) {
    Value V = Now.Regs[Reg];
    V.IsStale = false;
    return V;
  }
  if (Reg == ZeroReg)
    return Value::number(0, 0);
  if (Reg == ImmReg)
    return literal(O.Imm, 0);
  Value V;
  V.IsOwn = Reg == ThreadReg;
  return V;
}

/// An immediate or displacement: an address only in code that is linked to
/// run where it is, and only when it names something.
Value FunctionFlow::literal(int64_t N, uint32_t Origin) const {
  if (P.Absolute && (P.inData(N) || P.startsFunction(N)))
    return Value::address(N, Origin);
  return Value::number(N, Origin);
}

/// What a mask leaves of some number: a multiple of its lowest bit, and of what
/// the number is a multiple of.  (hash << 5) & 0x780 is an offset in a table
/// whose elements are 128 bytes apart.  Unknown where that is nothing.
static Value masked(const Value &V, int64_t Mask, uint32_t Origin) {
  bool IsSeries = V.isNumber() && !V.IsAddress && !V.IsPage && !V.isExact();
  bool IsSome = V.isOpaque() || V.Kind == ValueKind::Param;
  if (Mask <= 0 || Mask > INT32_MAX || !(IsSeries || IsSome))
    return Value(); // more bits may be a pointer's
  uint64_t Of = uint64_t(Mask) & -uint64_t(Mask);
  if (IsSeries) {
    uint64_t Common = std::gcd(uint64_t(V.Stride), uint64_t(V.Base));
    Of = std::max(Of, Common & -Common);
  }
  if (Of > uint64_t(Mask))
    return Value();
  Value R = Value::number(0, Origin);
  R.Stride = uint32_t(Of);
  R.IsIndex = true;
  R.IsOwn = V.IsOwn;
  R.IsGiven = V.IsGiven;
  return R;
}

/// The index of a memory operand, in bytes.
Value FunctionFlow::index(const MemOperand &M) const {
  return scale(isFollowed(M.Index) ? Now.Regs[M.Index] : Value(),
               int64_t(1) << M.Shift);
}

/// A spilled value: as a number, what this load made.
static Value reloaded(Value V, uint32_t Origin) {
  if (V.Kind == ValueKind::Pointee)
    V.Origin = Origin;
  return V;
}

FunctionFlow::Effective FunctionFlow::effective(const MemOperand &M,
                                                uint32_t Origin) const {
  Value V = Value::number(M.Disp, 0);
  bool Own = false, MayBeAddress = false;
  if (M.Flags & MemPcRelative) {
    V = Value::address(M.Disp, Origin);
    Own = true;
  } else if (P.Absolute && P.inData(M.Disp)) {
    V = Value::address(M.Disp, Origin);
    Own = true;
  }
  if (M.Base != NoReg && M.Base == M.Index) // n + 2 n
    return {add(V, scale(isFollowed(M.Base) ? Now.Regs[M.Base] : Value(),
                         1 + (int64_t(1) << M.Shift))),
            Own};
  if (M.Base != NoReg) {
    Value Base = isFollowed(M.Base) ? Now.Regs[M.Base] : Value();
    Base.IsStale = false;
    MayBeAddress = Base.IsPage && !Base.IsAddress;
    if (Base.IsPage) {
      Base.IsPage = false;
      Base.Origin = Origin;
      Own = true;
    }
    if (M.Index != NoReg && M.Disp < 0 && Base.isNumber() && Base.IsAddress &&
        Base.isExact()) {
      // table[i - 1]: the index is unknown, but it stays inside the table.
      Value I = index(M);
      if (I.Base == 0 && I.IsIndex)
        V.Base = (M.Disp % int64_t(I.Stride) + I.Stride) % I.Stride;
    }
    V = V.isNumber() && !V.IsAddress && V.Base == 0 ? Base : add(Base, V);
    if (MayBeAddress && P.inData(V.Base))
      V.IsAddress = true;
  }
  if (M.Index != NoReg)
    V = add(V, index(M));
  return {V, Own};
}

/// How many bytes from the thread pointer a memory operand is, where it is one
/// known word of the thread's storage; 0 is where the thread pointer is kept.
/// What is behind that belongs to run-time libraries.  A linker puts the offset
/// of a variable of another file into a register.
std::optional<int64_t> FunctionFlow::threadPlace(const MemOperand &M,
                                                 const Effective &E) const {
  std::optional<int64_t> At = E.Where.fromThreadPointer();
  if (M.Flags & MemSegment) {
    if (M.Flags & MemOtherBase || !E.Where.isNumber() || E.Where.IsAddress ||
        !E.Where.isExact())
      return {};
    At = E.Where.Base;
  }
  return At && *At <= 0 ? At : std::optional<int64_t>();
}

Value FunctionFlow::loaded(const Op &O, const Effective &E, uint32_t Origin) {
  Value Some;
  Some.IsOwn = O.Mem[0].Flags & MemSegment || E.Where.IsOwn ||
               (isFollowed(O.Mem[0].Base) && Now.Regs[O.Mem[0].Base].IsOwn);
  bool Whole = O.Width == 8 && O.Mem[0].Size == 8;
  if (auto At = threadPlace(O.Mem[0], E); At && Whole)
    return *At == 0 ? Value::threadPointer(Origin)
                    : Value::threadWord(*At, Origin);
  if (!E.Where.isExact())
    return Some;
  Some.IsGiven = E.Where.Kind == ValueKind::Param;
  if (E.Where.Kind == ValueKind::Stack) {
    for (const Slot &S : Now.Slots)
      if (S.Offset == E.Where.Base) {
        bool IsTried = Second && S.Size == O.Mem[0].Size;
        return (Whole && S.Size == 8) || IsTried ? reloaded(S.Content, Origin)
                                                 : unknownFrom(S.Content);
      }
    return Some;
  }
  if (!Whole)
    return Some;
  if (E.Where.Kind == ValueKind::Param && E.Where.Base >= 0 &&
      E.Where.Base % 8 == 0 && uint64_t(E.Where.Base) / 8 < WholeArgument &&
      !Some.IsOwn) {
    Value Word = Value::wordOf(Current.Row, E.Where.Arg,
                               uint64_t(E.Where.Base) / 8, Origin);
    Word.IsGiven = true;
    return Word;
  }
  if (E.Where.isNumber() && E.Where.IsAddress) {
    if (auto Content = P.slot(E.Where.Base))
      return Value::address(*Content, Origin);
    else if (P.inData(E.Where.Base) && !Some.IsOwn)
      return Value::pointee(E.Where.Base, Origin);
  }
  return Some;
}

/// A page and the rest of the address in \p O.
Value FunctionFlow::completed(const Value &Page, const Op &O,
                              uint32_t Origin) const {
  Value V = Page;
  V.IsPage = false;
  V.Base = wrapAdd(V.Base, O.Imm);
  V.Origin = Origin;
  if (!V.IsAddress && O.Width == 8)
    V.IsAddress = P.inData(V.Base) || (V.isExact() && P.startsFunction(V.Base));
  return V;
}

/// A shift down after one up: part of the register, extended and scaled.
Value FunctionFlow::lowered(const Op &O) const {
  if (!isFollowed(O.Src))
    return Value();
  const Value &Now = this->Now.Regs[O.Src];
  const Value Part = unknownFrom(Now);
  const Up &Before = Raised[O.Src];
  if (!Now.isOpaque() || Now.Origin != Before.Origin ||
      Before.Origin <= BlockFirst || O.Imm > Before.By)
    return Part;
  int64_t Left = Before.By - O.Imm;
  int64_t Limit = int64_t(1) << (63 - Before.By);
  const Value &V = Before.What;
  if (V.isNumber() && (V.IsAddress || V.Base < 0 || V.Base >= Limit))
    return Part;
  if (Left >= 32 || (Left == 0 && !V.isNumber()))
    return Part;
  return scale(V, int64_t(1) << Left);
}

/// What BitsTo, or the memory that changes, is of a set of bits afterwards.
BitRole FunctionFlow::bitsOf(const Op &O) const {
  auto IsGiven = [](const Value &V) {
    return V.isNumber() && V.isExact() && !V.IsAddress;
  };
  switch (O.Bits) {
  case BitWork::None:
    return BitRole::None;
  case BitWork::Picks: // of a number that code names it makes a mask
    return O.BitsTo != NoReg && IsGiven(reg(O, O.BitsTo)) ? BitRole::Chosen
                                                          : BitRole::Changed;
  case BitWork::Shifts: {
    Value V = reg(O, O.BitsFrom);
    return IsGiven(V) && V.Base ? BitRole::Chosen : V.Bits;
  }
  case BitWork::Combines: {
    Value A = reg(O, O.BitsFrom), B = reg(O, O.BitsFrom2);
    BitRole Most = std::max(A.Bits, B.Bits);
    bool HasOther = (A.Bits == BitRole::None && !IsGiven(A)) ||
                    (B.Bits == BitRole::None && !IsGiven(B));
    return Most != BitRole::None && HasOther ? BitRole::Changed : Most;
  }
  }
  return BitRole::None;
}

/// \p V as 32 bits; the upper half becomes zero, or copies of the sign.
Value FunctionFlow::inHalf(const Op &O, const Value &V) const {
  if (!V.isNumber() || (V.IsAddress && !P.Absolute))
    return unknownFrom(V);
  Value Half = V;
  if (V.isExact())
    Half.Base =
        O.SignExtends ? int64_t(int32_t(V.Base)) : int64_t(uint32_t(V.Base));
  return Half;
}

Value FunctionFlow::computed(const Op &O, uint32_t Origin, const Effective *E) {
  switch (O.How) {
  case Transfer::None:
    return Value();
  case Transfer::Move:
    return reg(O, O.Src);
  case Transfer::Extend: {
    // A number that the narrow form can hold, or a multiple of one.
    Value V = reg(O, O.Src);
    if (V.isNumber() && (!V.IsAddress || P.Absolute) && V.Base >= 0 &&
        V.Base <= INT32_MAX)
      return V;
    return unknownFrom(V);
  }
  case Transfer::Constant:
    return O.ImmIsValue ? literal(O.Imm, Origin) : Value::number(O.Imm, Origin);
  case Transfer::Address:
    return Value::address(O.Imm, Origin);
  case Transfer::Page: {
    Value V = Value::address(O.Imm, Origin);
    V.IsPage = true;
    return V;
  }
  case Transfer::High: {
    Value V = Value::number(O.Imm, Origin);
    V.IsPage = P.Absolute;
    return V;
  }
  case Transfer::Lea:
    return E->Where;
  case Transfer::Add: {
    Value A = reg(O, O.Src);
    if (O.Src2 == NoReg) {
      if (A.IsPage)
        return completed(A, O, Origin);
      Value Sum = add(A, O.ImmIsValue ? literal(O.Imm, Origin)
                                      : Value::number(O.Imm, 0));
      Sum.Bits = A.Bits == BitRole::Chosen ? A.Bits : BitRole::None;
      return Sum; // (1 << n) - 1 is a mask too
    }
    if (O.Src == O.Src2 && !O.Narrow)
      return scale(A, 1 + (int64_t(1) << O.Shift));
    Value B = O.Narrow ? Value() : reg(O, O.Src2);
    return add(A, scale(B, int64_t(1) << O.Shift));
  }
  case Transfer::Sub: {
    Value A = reg(O, O.Src), B = reg(O, O.Src2);
    Value Less = asSeries(B);
    if (O.Shift == 0 && sameIndex(A, Less) && A.Stride > Less.Stride) {
      A.Stride -= Less.Stride; // 8 n - n
      A.Base -= Less.Base;
      return A;
    }
    if (!B.isNumber() || B.IsAddress || !B.isExact() || O.Shift)
      return Value();
    return add(A, Value::number(-B.Base, 0));
  }
  case Transfer::Scale:
    return scale(reg(O, O.Src), O.Imm);
  case Transfer::Product: {
    Value A = reg(O, O.Src), B = reg(O, O.Factor), V;
    if (B.isNumber() && B.isExact() && !B.IsAddress)
      V = scale(A, B.Base);
    else if (A.isNumber() && A.isExact() && !A.IsAddress)
      V = scale(B, A.Base);
    return O.Src2 == NoReg ? V : add(reg(O, O.Src2), V);
  }
  case Transfer::Load:
    return loaded(O, *E, Origin);
  case Transfer::AddLoad:
    return add(reg(O, O.Src), loaded(O, *E, Origin));
  case Transfer::ScaleLoad: {
    Value V = loaded(O, *E, Origin);
    if (V.isOpaque() && !V.Origin)
      V.Origin = Origin;
    return scale(V, O.Imm);
  }
  case Transfer::Select: {
    Value A = reg(O, O.Src);
    Value B = O.Src2 == NoReg ? loaded(O, *E, Origin) : reg(O, O.Src2);
    Value Either = A.same(B) ? A : Value();
    Either.IsOwn = A.IsOwn && B.IsOwn;
    Either.IsGiven = A.IsGiven && B.IsGiven;
    return eitherOf(Either, A, B, false);
  }
  case Transfer::Insert: {
    Value V = reg(O, O.Dst);
    if (!V.isNumber() || V.IsAddress || !V.isExact())
      return Value();
    uint64_t Mask = uint64_t(0xffff) << O.Shift;
    return literal((V.Base & ~Mask) | (uint64_t(O.Imm) << O.Shift), Origin);
  }
  case Transfer::Align: {
    Value V = reg(O, O.Src);
    if (Value Offset = masked(V, O.Imm, Origin); Offset.Stride > 1)
      return Offset;
    if (O.Imm >= 0 && (!V.isNumber() || V.IsAddress || V.IsPage))
      return unknownFrom(V); // a remainder
    if (V.isNumber() && V.isExact() && !V.IsPage && O.Imm >= -MinPageBytes) {
      V.Base &= O.Imm;
      V.Origin = Origin;
      return V;
    }
    if (V.Kind != ValueKind::Stack || !V.isExact())
      return unknownFrom(V);
    return Value::stack(V.Base - Realigned);
  }
  case Transfer::ShiftUp: {
    if (isFollowed(O.Dst))
      Raised[O.Dst] = {Origin, O.Imm, reg(O, O.Src)};
    AnyRaised = true;
    return unknownFrom(reg(O, O.Src));
  }
  case Transfer::ShiftDown:
    return lowered(O);
  case Transfer::Part:
    return unknownFrom(reg(O, O.Src));
  }
  return Value();
}

} // namespace linemate
