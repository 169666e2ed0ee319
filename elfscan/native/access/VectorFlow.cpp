//===- VectorFlow.cpp - What the halves of vector registers hold ----------===//
//
// Owns the moves of two words at once: compilers make objects by them, often
// from two words that they put together once, before a loop.  What the
// registers hold is kept as if it were spilled, far from all that code spills:
// few functions have any, and those lose it where ways meet as they do slots.
//
//===----------------------------------------------------------------------===//

#include "Flow.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace linemate {

namespace {

/// Where the slots of the vector registers begin: above all of the frame.
constexpr int64_t VectorSlots = Realigned << 8;
constexpr int64_t VectorBytes = 16;

} // namespace

/// What the halves of a vector register hold.
TwoValues FunctionFlow::vector(int8_t Reg) const {
  TwoValues Halves;
  int64_t At = VectorSlots + Reg * VectorBytes;
  auto It = std::ranges::lower_bound(Now.Slots, At, {}, &Slot::Offset);
  for (; It != Now.Slots.end() && It->Offset < At + VectorBytes; ++It)
    Halves[size_t(It->Offset - At) / 8] = It->Content;
  return Halves;
}

void FunctionFlow::forgetVectors() {
  while (!Now.Slots.empty() && Now.Slots.back().Offset >= VectorSlots)
    Now.Slots.pop_back();
}

/// The words that an op stores, with how far behind each other; none of a
/// vector register of which nothing is known.
FunctionFlow::StoredWords FunctionFlow::storedVector(const Op &O,
                                                     const MemOperand &M) {
  StoredWords Words;
  if (O.VectorStored < 0 || M.Size < 8 || Now.Slots.empty() ||
      Now.Slots.back().Offset < VectorSlots)
    return Words;
  TwoValues Halves = vector(O.VectorStored);
  if (M.Size == 8)
    Words.What[0] = Halves[O.StoresUpper];
  else
    Words.What = Halves;
  Words.Count = M.Size == 8 ? 1 : 2;
  return Words;
}

/// Compilers store two words of a new object at once.
void FunctionFlow::vectorStep(const Op &O, const Effective &E,
                              uint32_t Origin) {
  TwoValues Halves = vectorMoved(O, E, Origin);
  int64_t At = VectorSlots + O.VectorDst * VectorBytes;
  if (!Now.Slots.empty() && Now.Slots.back().Offset >= At)
    forget(At, VectorBytes);
  for (unsigned Half : {0U, 1U}) {
    const Value &V = Halves[Half];
    if (V.isNothing() || V.IsPage || Now.Slots.size() >= MaxSlots)
      continue;
    Slot New = {At + Half * 8, V};
    Now.Slots.insert(
        std::ranges::lower_bound(Now.Slots, New.Offset, {}, &Slot::Offset),
        New);
  }
}

/// Two words of the file's constants, which no program changes.
TwoValues FunctionFlow::constants(const Effective &E) const {
  if (!E.Where.isNumber() || !E.Where.isExact() || P.Sleepers.empty())
    return {};
  std::span<const uint8_t> Bytes = P.constantsAt(uint64_t(E.Where.Base));
  if (Bytes.size() < VectorBytes)
    return {};
  std::array<int64_t, 2> Words;
  std::memcpy(Words.data(), Bytes.data(), VectorBytes);
  return {Value::number(Words[0], 0), Value::number(Words[1], 0)};
}

TwoValues FunctionFlow::vectorMoved(const Op &O, const Effective &E,
                                    uint32_t Origin) {
  auto Lower = [this, &O] {
    return O.VectorLow < 0 ? Value() : vector(O.VectorLow)[0];
  };
  switch (O.Vector) {
  case VectorMove::Low:
    return {reg(O, O.VectorFrom), Value()};
  case VectorMove::High:
    return {Lower(), reg(O, O.VectorFrom)};
  case VectorMove::Lowers:
    return {Lower(), vector(O.VectorFrom)[0]};
  case VectorMove::Copy:
    return vector(O.VectorFrom);
  case VectorMove::LowLoad:
  case VectorMove::HighLoad: {
    Op Half = O;
    Half.Width = 8;
    Half.Mem[0].Size = 8;
    Value V = loaded(Half, E, Origin);
    return O.Vector == VectorMove::LowLoad ? TwoValues{V, Value()}
                                           : TwoValues{Lower(), V};
  }
  case VectorMove::Load: {
    if (TwoValues Known = constants(E); !Known[0].isNothing())
      return Known;
    Op Half = O;
    Half.Width = 8;
    Half.Mem[0].Size = 8;
    Effective Next = E;
    Next.Where.Base += 8;
    return {loaded(Half, E, Origin), loaded(Half, Next, Origin)};
  }
  case VectorMove::Unknown:
    break;
  }
  return {};
}

} // namespace linemate
