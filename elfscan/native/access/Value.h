//===- Value.h - What a register may hold -----------------------*- C++ -*-===//
//
// Owns the lattice of the data flow and its arithmetic.  Every value that the
// lattice cannot state exactly is Unknown: an address is never guessed.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ACCESS_VALUE_H
#define LINEMATE_ACCESS_VALUE_H

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <optional>
#include <type_traits>
#include <utility>

namespace linemate {

enum class ValueKind : uint8_t {
  Unknown,
  Number,  ///< Base + n * Stride, exact without stride
  Param,   ///< the function's argument Arg + Base + n * Stride
  Stack,   ///< the stack pointer at entry + Base + n * Stride
  Pointee, ///< what was loaded from a static variable, or returned by a call
           ///< that makes an object, + offset + n * Stride; Base is all, see
           ///< pointee
};

/// What a value is of a set of bits: nothing that is known, some of which code
/// chose by number (1 << n), or a set that was changed by these.
enum class BitRole : uint8_t { None, Chosen, Changed };

/// Bits of a Pointee's Base that are the offset; the address of the variable,
/// or of the call, is above them, and HeldBit above that: no file has addresses
/// there.
inline constexpr unsigned HeldOffsetBits = 24;
inline constexpr unsigned HeldAddressBits = 38;
inline constexpr int64_t HeldBit = int64_t(1)
                                   << (HeldOffsetBits + HeldAddressBits);
/// The most bytes from one element to the next that rows of arguments can tell.
inline constexpr uint32_t MaxStep = UINT8_MAX - 1;
/// It changes, and not by one number of bytes.
inline constexpr uint8_t NoStep = UINT8_MAX;
inline constexpr int64_t HeldOffsetMask = (int64_t(1) << HeldOffsetBits) - 1;

/// A holder that is no address: a word of what an argument points to, by the
/// row of the function, the argument and the word.  Above all addresses of
/// holders.
inline constexpr unsigned WordNumberBits = 10;
inline constexpr unsigned WordArgBits = 3;
inline constexpr uint64_t WordBit = uint64_t(1) << (HeldAddressBits - 1);
/// Stands for the argument itself.
inline constexpr uint64_t WholeArgument = (uint64_t(1) << WordNumberBits) - 1;
/// In the place of an argument: the function's own frame, of which the offsets
/// are counted from FrameBytes below the stack pointer at entry.
inline constexpr uint8_t OwnFrame = (1 << WordArgBits) - 1;
inline constexpr int64_t FrameBytes = int64_t(1) << (HeldOffsetBits - 1);
/// In the place of a row: storage of the running thread, of which argument and
/// word are together the word's number, counted from ThreadWords / 2 below the
/// thread pointer.  The first one stands for the thread pointer itself, from
/// which offsets are counted as in a frame.
inline constexpr uint64_t ThreadRow =
    (WordBit >> (WordNumberBits + WordArgBits)) - 1;
inline constexpr int64_t ThreadWords = int64_t(1)
                                       << (WordNumberBits + WordArgBits);

struct Value {
  int64_t Base = 0;
  uint32_t Stride = 0;
  /// Op that made the address or, of an unknown or a series, the index, plus
  /// one; 0: none.
  uint32_t Origin = 0;
  /// Of what is the thread's own, or given, the bytes to that of another
  /// thread, where one more index chooses in it; 0: Stride.
  uint32_t OwnStride = 0;
  ValueKind Kind = ValueKind::Unknown;
  uint8_t Arg = 0;
  bool IsAddress = false; ///< certainly an address, not a plain number
  bool IsPage = false;    ///< an address that still lacks its low bits, or a
                          ///< number that may be one
  bool IsIndex = false;   ///< n is any number, not the steps of a loop
  /// In a register that a call may change: no argument of the next call.  Code
  /// that reads it all the same knows that the callee left it alone.
  bool IsStale = false;

  BitRole Bits = BitRole::None;

  /// From storage of the running thread or processor, or counted from there:
  /// as an index it is of an element that no other thread has.
  bool IsOwn = false;
  /// From an argument of the function, or from a record that it leads to: as an
  /// index it is whatever a thread that begins here was told.
  bool IsGiven = false;
  /// Made of two indexes that are given: which one is a thread's is not known.
  bool IsGivenTwice = false;
  /// Of what its op made, as a number, plus Base: bytes from one round of a
  /// loop to the next, as where a loop goes through an array; 0: it is that
  /// alone.
  uint8_t Step = 0;
  /// Of an unknown: it is one of two, see Choices; 0: nothing is known.
  uint8_t Choice = 0;

  /// Bytes from an element to that of another thread, where the index is the
  /// thread's own, and else to the next.
  uint32_t apart() const { return IsOwn && OwnStride ? OwnStride : Stride; }
  /// The same where the index is the thread's own or given.
  uint32_t givenApart() const {
    return (IsOwn || IsGiven) && OwnStride ? OwnStride : Stride;
  }
  /// The same marks, of which no address is made.
  bool sameMarks(const Value &O) const {
    return IsOwn == O.IsOwn && IsGiven == O.IsGiven &&
           IsGivenTwice == O.IsGivenTwice && givenApart() == O.givenApart() &&
           Bits == O.Bits && Step == O.Step;
  }
  bool hasMarks() const { return IsOwn || IsGiven || Bits != BitRole::None; }
  bool isExact() const { return Stride == 0; }
  bool isNumber() const { return Kind == ValueKind::Number; }
  bool isNothing() const {
    return Kind == ValueKind::Unknown && !Choice && !hasMarks();
  }
  /// Nothing is known of it as a number.
  bool isOpaque() const {
    return Kind == ValueKind::Unknown || Kind == ValueKind::Pointee;
  }
  /// As its op made it, nothing added.
  bool isLoaded() const {
    return isOpaque() && isExact() &&
           !(Kind == ValueKind::Pointee && Base & HeldOffsetMask);
  }

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
  static Value pointee(uint64_t Holder, uint32_t Origin) {
    Value V;
    V.Origin = Origin;
    if (Holder >> (HeldAddressBits - 1))
      return V;
    return held(Holder, Origin);
  }
  /// What is in the 8 bytes of number \p Word behind an argument, or, of
  /// WholeArgument, the argument.
  static Value wordOf(int32_t Row, uint8_t Arg, uint64_t Word,
                      uint32_t Origin) {
    constexpr unsigned RowShift = WordNumberBits + WordArgBits;
    Value V;
    V.Origin = Origin;
    if (Row < 0 || uint64_t(Row) >= ThreadRow || Arg >> WordArgBits ||
        Word > WholeArgument)
      return V;
    return held(WordBit | uint64_t(Row) << RowShift |
                    uint64_t(Arg) << WordNumberBits | Word,
                Origin);
  }
  /// The object in the function's own frame at an offset from the stack pointer
  /// at entry; unknown where that is too far.
  static Value frameAt(int32_t Row, int64_t Offset) {
    int64_t At = Offset + FrameBytes;
    Value V = wordOf(Row, OwnFrame, WholeArgument, 0);
    if (V.Kind != ValueKind::Pointee || At < 0 || At >= FrameBytes)
      return Value();
    V.Base |= At;
    return V;
  }
  /// What a thread keeps at so many bytes from the thread pointer.
  static Value threadWord(int64_t At, uint32_t Origin) {
    int64_t Word = At / 8 + ThreadWords / 2;
    Value V;
    V.Origin = Origin;
    if (!(At % 8) && Word > 0 && Word < ThreadWords)
      V = held(threadHolder(uint64_t(Word)), Origin);
    V.IsOwn = true;
    return V;
  }
  static Value threadPointer(uint32_t Origin) {
    Value V = held(threadHolder(0), Origin);
    V.Base |= FrameBytes;
    V.IsOwn = true;
    return V;
  }
  /// How far it is from the thread pointer, where it is a place so known.
  std::optional<int64_t> fromThreadPointer() const {
    if (Kind != ValueKind::Pointee || !isExact() ||
        (Base & ~HeldOffsetMask) != held(threadHolder(0), 0).Base)
      return {};
    return (Base & HeldOffsetMask) - FrameBytes;
  }
  /// The argument of the function \p Row, and how many bytes behind it the word
  /// is, that the value is counted from, where it is one of those.
  std::optional<std::pair<uint8_t, int64_t>> wordOfArgument(int32_t Row) const {
    uint64_t Holder = uint64_t(Base & ~HeldBit) >> HeldOffsetBits;
    if (Kind != ValueKind::Pointee || !(Holder & WordBit))
      return {};
    uint64_t Word = Holder & WholeArgument;
    uint8_t Arg = uint8_t(Holder >> WordNumberBits) & OwnFrame;
    uint64_t Of = (Holder & ~WordBit) >> (WordNumberBits + WordArgBits);
    if (Row < 0 || Of != uint64_t(Row) || Arg == OwnFrame ||
        Word == WholeArgument)
      return {};
    return std::pair(Arg, int64_t(Word) * 8);
  }
  /// Behind a word of the thread's storage, or in that.
  bool isOfThread() const {
    return Kind == ValueKind::Pointee && Base >= held(threadHolder(0), 0).Base;
  }
  static uint64_t threadHolder(uint64_t Word) {
    return WordBit | ThreadRow << (WordNumberBits + WordArgBits) | Word;
  }
  static Value held(uint64_t Holder, uint32_t Origin) {
    Value V;
    V.Origin = Origin;
    V.Kind = ValueKind::Pointee;
    V.Base = HeldBit | int64_t(Holder << HeldOffsetBits);
    return V;
  }
  static Value param(uint8_t Arg) {
    Value V;
    V.Kind = ValueKind::Param;
    V.Arg = Arg;
    V.IsGiven = true;
    return V;
  }

  /// The same in everything, which is quickly told: there is no padding.
  bool isIdentical(const Value &O) const {
    return std::memcmp(this, &O, sizeof O) == 0;
  }
  /// Same meaning; where it was made does not count.
  bool same(const Value &O) const {
    return Kind == O.Kind && Base == O.Base && Stride == O.Stride &&
           Arg == O.Arg && IsAddress == O.IsAddress && IsPage == O.IsPage &&
           IsStale == O.IsStale && Choice == O.Choice;
  }
};

// States are copied and compared by the hundred for each block.
static_assert(sizeof(Value) == 32 &&
              std::has_unique_object_representations_v<Value>);

/// Where the stack pointer is aligned its distance from entry is lost; from
/// there on offsets count from a place that is far from all others.
inline constexpr int64_t Realigned = int64_t(1) << 32;

inline int64_t wrapAdd(int64_t A, int64_t B) {
  return int64_t(uint64_t(A) + uint64_t(B));
}

/// Some value that was computed from \p V.
inline Value unknownFrom(const Value &V) {
  Value R;
  R.IsOwn = V.IsOwn;
  R.IsGiven = V.IsGiven;
  R.IsGivenTwice = V.IsGivenTwice;
  R.Bits = V.Bits;
  return R;
}

/// Where an argument that serves as an index was made.
inline uint32_t paramOrigin(uint8_t Arg) { return UINT32_MAX - Arg; }

/// An unknown value as a number: 0 + n * 1, with n the value that its op made.
/// Anything else as it is.
inline Value asSeries(const Value &V) {
  if (!V.isOpaque() || V.Origin == 0)
    return V;
  bool IsMoved = V.Kind == ValueKind::Pointee;
  Value R = Value::number(IsMoved ? V.Base & HeldOffsetMask : 0, V.Origin);
  R.Stride = 1;
  R.IsIndex = true;
  R.IsOwn = V.IsOwn;
  R.IsGiven = V.IsGiven;
  R.IsGivenTwice = V.IsGivenTwice;
  return R;
}

/// Whether \p A and \p B are multiples of one unknown number.
inline bool sameIndex(const Value &A, const Value &B) {
  return A.isNumber() && B.isNumber() && !A.IsAddress && !B.IsAddress &&
         A.Stride && B.Stride && A.Origin && A.Origin == B.Origin;
}

/// What lies between the parts of two threads in A + B.  Of two indexes that
/// are own the one with larger steps chooses the part, the other in it.  One
/// that is given counts where none is own.
inline uint32_t ownStride(const Value &A, const Value &B) {
  if (A.IsOwn || B.IsOwn)
    return std::max(A.IsOwn ? A.apart() : 0, B.IsOwn ? B.apart() : 0);
  return std::max(A.IsGiven ? A.givenApart() : 0,
                  B.IsGiven ? B.givenApart() : 0);
}

inline Value addNumbers(const Value &A, const Value &B) {
  if (A.IsAddress && B.IsAddress)
    return Value();
  Value R =
      B.IsAddress || (!A.IsAddress && A.isExact() && !B.isExact()) ? B : A;
  uint64_t Sum = uint64_t(A.Stride) + B.Stride;
  R.Stride = sameIndex(A, B) && Sum <= UINT32_MAX
                 ? uint32_t(Sum)
                 : std::gcd(A.Stride, B.Stride);
  R.Base = wrapAdd(A.Base, B.Base);
  R.IsOwn = A.IsOwn || B.IsOwn;
  R.IsGiven = A.IsGiven || B.IsGiven;
  R.IsGivenTwice =
      A.IsGivenTwice || B.IsGivenTwice ||
      (A.IsGiven && B.IsGiven && A.Stride && B.Stride && !sameIndex(A, B));
  if (A.Stride && B.Stride)
    R.Step = NoStep;
  R.OwnStride = sameIndex(A, B) ? 0 : ownStride(A, B);
  if (!R.IsAddress)
    R.IsPage = A.IsPage || B.IsPage;
  return R;
}

/// An argument that is added to its own multiple is an index too.
inline Value asIndexOf(const Value &V, const Value &Multiple) {
  if (V.Kind != ValueKind::Param || !V.isExact() || !Multiple.isNumber() ||
      Multiple.IsAddress || Multiple.Origin != paramOrigin(V.Arg))
    return V;
  Value R = Value::number(V.Base, Multiple.Origin);
  R.Stride = 1;
  R.IsIndex = true;
  R.IsGiven = true;
  return R;
}

/// What a static variable was loaded with, so many bytes on; unknown where that
/// is no place in a record.
inline std::optional<Value> movedPointee(const Value &Pointer,
                                         const Value &By) {
  if (Pointer.Kind != ValueKind::Pointee || !By.isNumber() || By.IsAddress ||
      By.IsPage || By.Stride == 1)
    return {};
  // What a thread keeps is as often a number that an index is made of.
  if (Pointer.isOfThread() && !By.isExact())
    return {};
  int64_t Offset = wrapAdd(Pointer.Base & HeldOffsetMask, By.Base);
  if (Offset < 0 || Offset > HeldOffsetMask)
    return {};
  Value R = Pointer;
  R.Base = (R.Base & ~HeldOffsetMask) | Offset;
  R.Stride = std::gcd(R.Stride, By.Stride);
  R.IsOwn = Pointer.IsOwn || By.IsOwn;
  // Of a pointer that is given nothing follows for an index behind it.
  Value Before = Pointer;
  Before.IsGiven = Pointer.IsGiven && !Pointer.isExact();
  R.IsGiven = Before.IsGiven || By.IsGiven;
  R.OwnStride = ownStride(Before, By);
  return R;
}

/// An index of elements of so many bytes was added to \p Pointer, of which
/// nothing is known; \p R is the sum.
inline void stepFrom(Value &R, const Value &Pointer, const Value &By) {
  bool IsPlace = Pointer.isOpaque() && Pointer.isExact() && Pointer.Origin;
  if (!IsPlace || !By.isNumber() || By.IsAddress || By.Stride < 2 ||
      By.Stride > MaxStep)
    return;
  R.Step = uint8_t(By.Stride);
  R.Origin = Pointer.Origin;
}

inline Value add(const Value &First, const Value &Second) {
  if (auto Moved = movedPointee(First, Second))
    return *Moved;
  if (auto Moved = movedPointee(Second, First))
    return *Moved;
  Value A = asIndexOf(asSeries(First), Second);
  Value B = asIndexOf(asSeries(Second), First);
  if (A.isNumber() && B.isNumber()) {
    // An index that was moved down still begins at 0 as far as is known.
    if (!A.IsAddress && !B.IsAddress && (A.IsIndex || B.IsIndex) &&
        A.isExact() != B.isExact() && (A.isExact() ? A.Base : B.Base) < 0)
      return A.isExact() ? Second : First;
    Value R = addNumbers(A, B);
    stepFrom(R, First, Second);
    stepFrom(R, Second, First);
    return R;
  }
  const Value &Known = A.isNumber() && A.IsAddress ? A : B;
  if (Known.isNumber() && Known.IsAddress) {
    // A known address plus anything: some byte of that object.
    Value R = Known;
    R.Stride = 1;
    R.OwnStride = ownStride(A, B);
    R.IsOwn = A.IsOwn || B.IsOwn;
    R.IsGiven = A.IsGiven || B.IsGiven;
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
  // Of an argument and an unknown number either may be the pointer.
  if (Pointer.Kind == ValueKind::Param && Offset.isNumber() &&
      Offset.Stride != 1) {
    Value R = Pointer;
    R.Base = wrapAdd(R.Base, Offset.Base);
    R.Stride = std::gcd(R.Stride, Offset.Stride);
    R.OwnStride = ownStride(A, B);
    R.IsOwn = A.IsOwn || B.IsOwn;
    R.IsGivenTwice = A.IsGivenTwice || B.IsGivenTwice || Offset.IsGiven;
    return R;
  }
  Value R;
  R.IsOwn = A.IsOwn || B.IsOwn;
  R.IsGiven = A.IsGiven || B.IsGiven;
  R.IsGivenTwice = A.IsGivenTwice || B.IsGivenTwice || (A.IsGiven && B.IsGiven);
  return R;
}

inline Value scale(const Value &Index, int64_t Factor) {
  if (Factor <= 0 || Factor > INT32_MAX)
    return Value();
  if (Factor == 1)
    return Index;
  Value A = asSeries(Index);
  Value R = Value::number(0, 0);
  R.IsOwn = A.IsOwn;
  R.IsGiven = A.IsGiven;
  R.IsGivenTwice = A.IsGivenTwice;
  R.OwnStride = uint32_t(std::min<uint64_t>(
      uint64_t(ownStride(A, A)) * uint64_t(Factor), UINT32_MAX));
  if (!A.isNumber() || A.IsAddress) {
    // An argument to which another index was added is the one by single steps.
    if (A.Kind == ValueKind::Param && !A.IsOwn)
      R.OwnStride = 0;
    R.Stride = uint32_t(Factor);
    R.IsIndex = true;
    if (A.Kind == ValueKind::Param && A.isExact())
      R.Origin = paramOrigin(A.Arg);
    if (A.Kind == ValueKind::Param && A.Base > 0 && A.Base <= INT32_MAX)
      R.Base = A.Base * Factor; // table[argument + 3]
    return R;
  }
  uint64_t Stride = uint64_t(A.Stride) * uint64_t(Factor);
  if (Stride > UINT32_MAX)
    return Value();
  R.Base = int64_t(uint64_t(A.Base) * uint64_t(Factor));
  R.Stride = uint32_t(Stride);
  R.IsIndex = A.IsIndex;
  R.Origin = A.Origin;
  return R;
}

} // namespace linemate

#endif // LINEMATE_ACCESS_VALUE_H
