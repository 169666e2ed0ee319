//===- ThreadStores.cpp - What sets words of the running thread's storage -===//
//
// Owns the search of all code of x86-64 for stores of registers to fixed places
// of that storage, by their bytes: which function alone sets a word is known
// before the first one is decoded.  Stores of constants are not looked for:
// these clear a word, as a rule where the thread ends.
//
//===----------------------------------------------------------------------===//

#include "Plan.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace linemate {

namespace {

// mov fs:[disp32], r64: a prefix, REX.W with or without its bit for the upper
// eight registers, the code, ModRM with any register, and SIB with no base.
constexpr uint8_t OfThread = 0x64, Wide = 0x48, UpperRegister = 0x04;
constexpr uint8_t Store = 0x89, NotRegister = 0xc7, BySib = 0x04, NoBase = 0x25;
constexpr size_t AtPlace = 5, Length = 9;

} // namespace

void Plan::findThreadStores() {
  for (const Bytes &Range : Code) {
    std::span<const uint8_t> Left = Range.Data;
    const uint8_t *Begin = Left.data(), *End = Begin + Left.size();
    for (const uint8_t *At = Begin; End - At >= ptrdiff_t(Length); ++At) {
      At = static_cast<const uint8_t *>(
          std::memchr(At, OfThread, size_t(End - At) - Length + 1));
      if (!At)
        break;
      if ((At[1] & ~UpperRegister) != Wide || At[2] != Store ||
          (At[3] & NotRegister) != BySib || At[4] != NoBase)
        continue;
      int32_t Place;
      std::memcpy(&Place, At + AtPlace, sizeof Place);
      ThreadStores.push_back({Place, Range.Begin + uint64_t(At - Begin)});
    }
  }
  std::ranges::stable_sort(ThreadStores, {}, &ThreadStore::Place);
}

std::optional<uint64_t> Plan::aloneSetBy(int64_t Place) const {
  auto Found =
      std::ranges::equal_range(ThreadStores, Place, {}, &ThreadStore::Place);
  if (Found.size() != 1)
    return std::nullopt;
  uint64_t At = Found.begin()->At;
  auto In = std::ranges::upper_bound(Functions, At, {}, &Function::Begin);
  if (In == Functions.begin() || At >= (--In)->End)
    return std::nullopt;
  return In->Begin;
}

} // namespace linemate
