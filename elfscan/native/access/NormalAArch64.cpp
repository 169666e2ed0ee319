//===- NormalAArch64.cpp - aarch64 instructions without addresses ---------===//
//
// Owns the instruction words that have a relocation, and the fields that it
// sets (AAELF64, section 5.7; Arm Architecture Reference Manual, chapter C4).
//
//===----------------------------------------------------------------------===//

#include "A64Registers.h"
#include "Normal.h"

#include <algorithm>
#include <cstring>

namespace linemate {

namespace {

constexpr uint32_t Register31 = 31; ///< sp in additions

/// A group of instructions: those whose bits under Mask are Bits.
struct Group {
  uint32_t Mask, Bits;
  bool matches(uint32_t Word) const { return (Word & Mask) == Bits; }
};

/// An instruction that leads elsewhere by a distance in words.
struct Branch {
  Group Words;
  unsigned Width, At; ///< of the distance
  bool IsCall;
};

constexpr Branch Branches[] = {
    {{0xfc000000, 0x14000000}, 26, 0, false}, // b
    {{0xfc000000, 0x94000000}, 26, 0, true},  // bl
    {{0xff000000, 0x54000000}, 19, 5, false}, // b.cond, bc.cond
    {{0x7e000000, 0x34000000}, 19, 5, false}, // cbz, cbnz
    {{0x7e000000, 0x36000000}, 14, 5, false}, // tbz, tbnz
};

/// Part of an address, relative or page by page.
struct Part {
  Group Words;
  uint32_t Field;
};

constexpr Part Parts[] = {
    {{0x1f000000, 0x10000000}, 0x60ffffe0}, // adr, adrp
    {{0x3b000000, 0x18000000}, 0x00ffffe0}, // ldr (literal)
    {{0x3b000000, 0x39000000}, 0x003ffc00}, // ldr, str (unsigned offset)
};

constexpr Group AddImmediate = {0x7f800000, 0x11000000};
constexpr uint32_t AddField = 0x007ffc00;
constexpr Group MoveWide = {0x7f800000, 0x52800000}; // movz
constexpr uint32_t MoveField = 0x001fffe0;

int64_t signedField(uint32_t Word, unsigned Width, unsigned At) {
  return int64_t(uint64_t(Word) << (64 - Width - At)) >> (64 - Width);
}

class AArch64Normaliser final : public Normaliser {
public:
  InstructionRow read(std::span<const uint8_t> Code, uint64_t Ip,
                      const Surroundings &Around) override {
    InstructionRow Row = {};
    Row.Length = uint8_t(std::min<size_t>(Code.size(), sizeof(uint32_t)));
    std::memcpy(Row.Bytes, Code.data(), Row.Length);
    if (Row.Length < sizeof(uint32_t))
      return Row;
    uint32_t Word = Row.Bytes[0] | Row.Bytes[1] << 8 | Row.Bytes[2] << 16 |
                    uint32_t(Row.Bytes[3]) << 24;
    Word &= ~addressField(Word, Ip, Around, Row);
    for (unsigned I = 0; I < sizeof Word; ++I)
      Row.Bytes[I] = uint8_t(Word >> 8 * I);
    return Row;
  }

private:
  /// The bits of \p Word that are part of an address.
  static uint32_t addressField(uint32_t Word, uint64_t Ip,
                               const Surroundings &Around,
                               InstructionRow &Row) {
    for (const Branch &B : Branches) {
      if (!B.Words.matches(Word))
        continue;
      int64_t Distance = signedField(Word, B.Width, B.At) * 4;
      Row.TargetIs = Around.kindOfTarget(Ip + uint64_t(Distance), Row.Target);
      Row.IsJump = !B.IsCall;
      return ((uint32_t(1) << B.Width) - 1) << B.At;
    }
    for (const Part &P : Parts)
      if (P.Words.matches(Word)) {
        Row.OtherIs = Operand::Address;
        return P.Field;
      }
    if (AddImmediate.matches(Word)) {
      bool MovesStackPointer =
          !(Word & AddField) &&
          ((Word & 31) == Register31 || (Word >> 5 & 31) == Register31);
      Row.OtherIs = MovesStackPointer ? Operand::Kept : Operand::Address;
      return MovesStackPointer ? 0 : AddField;
    }
    if (MoveWide.matches(Word)) {
      uint64_t Number = uint64_t(Word >> 5 & 0xffff) << (Word >> 21 & 3) * 16;
      Row.OtherIs = Around.kindOf(Number, Row.Other);
      return Row.OtherIs == Operand::Kept ? 0 : MoveField;
    }
    return 0;
  }
};

} // namespace

std::unique_ptr<Normaliser> a64::makeNormaliser() {
  return std::make_unique<AArch64Normaliser>();
}

} // namespace linemate
