//===- Value.h - What a register may hold -----------------------*- C++ -*-===//
//
// Owns the lattice of the data flow and its arithmetic.  Every value that the
// lattice cannot state exactly is Unknown: an address is never guessed.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ACCESS_VALUE_H
#define LINEMATE_ACCESS_VALUE_H

#include <cstdint>
#include <numeric>

namespace linemate {

enum class ValueKind : uint8_t {
  Unknown,
  Dead,   ///< Unknown, and left over from a call: no argument of the next one
  Number, ///< Base + n * Stride, exact without stride
  Param,  ///< the function's argument Arg + Base + n * Stride
  Stack,  ///< the stack pointer at entry + Base + n * Stride
};

struct Value {
  int64_t Base = 0;
  uint32_t Stride = 0;
  uint32_t Origin = 0; ///< op that made the address, plus one; 0: none
  ValueKind Kind = ValueKind::Unknown;
  uint8_t Arg = 0;
  bool IsAddress = false; ///< certainly an address, not a plain number
  bool IsPage = false;    ///< an address that still lacks its low bits

  bool isExact() const { return Stride == 0; }
  bool isNumber() const { return Kind == ValueKind::Number; }

  static Value number(int64_t N, uint32_t Origin) {
    Value V;
    V.Kind = ValueKind::Number;
    V.Base = N;
    V.Origin = Origin;
    return V;
  }
  static Value address(uint64_t A, uint32_t Origin) {
    Value V = number(int64_t(A), Origin);
    V.IsAddress = true;
    return V;
  }
  static Value stack(int64_t Offset) {
    Value V;
    V.Kind = ValueKind::Stack;
    V.Base = Offset;
    return V;
  }
  static Value param(uint8_t Arg) {
    Value V;
    V.Kind = ValueKind::Param;
    V.Arg = Arg;
    return V;
  }
  static Value dead() {
    Value V;
    V.Kind = ValueKind::Dead;
    return V;
  }

  /// Same meaning; where it was made does not count.
  bool same(const Value &O) const {
    return Kind == O.Kind && Base == O.Base && Stride == O.Stride &&
           Arg == O.Arg && IsAddress == O.IsAddress && IsPage == O.IsPage;
  }
};

inline int64_t wrapAdd(int64_t A, int64_t B) {
  return int64_t(uint64_t(A) + uint64_t(B));
}

inline Value add(const Value &A, const Value &B) {
  if (A.isNumber() && B.isNumber()) {
    if (A.IsAddress && B.IsAddress)
      return Value();
    Value R = B.IsAddress ? B : A;
    R.Base = wrapAdd(A.Base, B.Base);
    R.Stride = std::gcd(A.Stride, B.Stride);
    return R;
  }
  const Value &Known = A.isNumber() && A.IsAddress ? A : B;
  if (Known.isNumber() && Known.IsAddress) {
    // A known address plus anything: some byte of that object.
    Value R = Known;
    R.Stride = 1;
    return R;
  }
  const Value &Pointer = B.isNumber() ? A : B;
  const Value &Offset = B.isNumber() ? B : A;
  if (Pointer.Kind == ValueKind::Stack) {
    Value R = Pointer;
    if (Offset.isNumber()) {
      R.Base = wrapAdd(R.Base, Offset.Base);
      R.Stride = std::gcd(R.Stride, Offset.Stride);
    } else {
      R.Stride = 1;
    }
    return R;
  }
  if (Pointer.Kind == ValueKind::Param && Offset.isNumber()) {
    Value R = Pointer;
    R.Base = wrapAdd(R.Base, Offset.Base);
    R.Stride = std::gcd(R.Stride, Offset.Stride);
    return R;
  }
  return Value();
}

inline Value scale(const Value &A, int64_t Factor) {
  if (Factor <= 0 || Factor > INT32_MAX)
    return Value();
  if (Factor == 1)
    return A;
  Value R = Value::number(0, 0);
  if (!A.isNumber() || A.IsAddress) {
    R.Stride = uint32_t(Factor);
    return R;
  }
  uint64_t Stride = uint64_t(A.Stride) * uint64_t(Factor);
  if (Stride > UINT32_MAX)
    return Value();
  R.Base = int64_t(uint64_t(A.Base) * uint64_t(Factor));
  R.Stride = uint32_t(Stride);
  R.Origin = A.Origin;
  return R;
}

/// The least value that covers \p Old and \p New.  Two values from one origin
/// are a series, as in a loop that moves a pointer.  \p IsLoop: New came
/// around a loop, so the series begins at Old, whichever way it goes; that the
/// begin then stays is also why joining ends.
inline Value join(const Value &Old, const Value &New, bool IsLoop) {
  if (Old.same(New))
    return Old;
  if (Old.Kind != New.Kind || Old.Arg != New.Arg ||
      Old.IsAddress != New.IsAddress || Old.IsPage || New.IsPage ||
      (!Old.isNumber() && Old.Kind != ValueKind::Param))
    return Value();
  if (Old.isNumber() && Old.Origin != New.Origin)
    return Value();
  uint64_t Gap = New.Base < Old.Base ? uint64_t(Old.Base) - uint64_t(New.Base)
                                     : uint64_t(New.Base) - uint64_t(Old.Base);
  if (Gap > INT32_MAX)
    return Value();
  Value R = New.Base < Old.Base && !IsLoop ? New : Old;
  R.Stride = std::gcd(std::gcd(Old.Stride, New.Stride), uint32_t(Gap));
  return R;
}

} // namespace linemate

#endif // LINEMATE_ACCESS_VALUE_H
