//===- OutlinedAtomics.cpp - Functions that stand for one atomic ----------===//
//
// Owns the form of these functions in libgcc (config/aarch64/lse.S) and in
// compiler-rt (builtins/aarch64/lse.S): a byte tells whether the processor has
// the instruction, which then is all that they do.
//
//===----------------------------------------------------------------------===//

#include "OutlinedAtomics.h"

#include <cstring>
#include <optional>

namespace linemate {

namespace {

/// An instruction, and which of its bits are not operands.
struct Form {
  uint32_t Bits, Mask;
  bool fits(uint32_t Word) const { return (Word & Mask) == Bits; }
};

constexpr Form Landing = {0xd503241f, 0xffffff3f};     // bti
constexpr Form Page = {0x90000010, 0x9f00001f};        // adrp x16
constexpr Form Asked = {0x39400210, 0xffc003ff};       // ldrb w16, [x16, #n]
constexpr Form Without = {0x34000010, 0xff00001f};     // cbz w16
constexpr Form Swap = {0x38208020, 0x3f3fffff};        // swp* x0, x0, [x1]
constexpr Form CompareSwap = {0x08a07c41, 0x3fbf7fff}; // cas* x0, x1, [x2]
constexpr Form Return = {0xd65f03c0, 0xffffffff};
constexpr unsigned SizeShift = 30; // the size of both: log2 of the bytes

uint32_t wordOf(std::span<const uint8_t> Code, size_t At) {
  uint32_t Word = 0;
  if (Code.size() / sizeof Word > At)
    std::memcpy(&Word, Code.data() + At * sizeof Word, sizeof Word);
  return Word;
}

std::optional<OutlinedAtomic> outlinedIn(std::span<const uint8_t> Code) {
  size_t At = Landing.fits(wordOf(Code, 0));
  for (const Form &F : {Page, Asked, Without})
    if (!F.fits(wordOf(Code, At++)))
      return std::nullopt;
  uint32_t Word = wordOf(Code, At);
  if (!Return.fits(wordOf(Code, At + 1)))
    return std::nullopt;
  uint32_t Size = 1U << (Word >> SizeShift);
  if (Swap.fits(Word))
    return OutlinedAtomic{0, Size, 0, 1, false};
  if (CompareSwap.fits(Word))
    return OutlinedAtomic{0, Size, 1, 2, true};
  return std::nullopt;
}

} // namespace

std::vector<OutlinedAtomic> outlinedAtomics(const Plan &P) {
  std::vector<OutlinedAtomic> Found;
  if (P.Machine != Arch::AArch64)
    return Found;
  for (const Function &F : P.Functions) {
    std::span<const uint8_t> Code = P.codeAt(F.Begin);
    Code = Code.first(std::min<uint64_t>(Code.size(), F.End - F.Begin));
    if (auto Is = outlinedIn(Code)) {
      Is->Function = F.Begin;
      Found.push_back(*Is);
    }
  }
  return Found; // as the plan's functions are sorted
}

} // namespace linemate
