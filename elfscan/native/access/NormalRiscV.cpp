//===- NormalRiscV.cpp - RISC-V instructions without addresses ------------===//
//
// Owns the fields that hold a distance or half of an address.  A lower half is
// known by its register, which the upper half was put in before.
//
//===----------------------------------------------------------------------===//

#include "Normal.h"
#include "RiscVCompressed.h"
#include "RiscVFormats.h"

#include <algorithm>
#include <cstring>

namespace linemate {

namespace {

using namespace riscv;

constexpr uint32_t FieldI = 0xfff00000, FieldS = 0xfe000f80,
                   FieldU = 0xfffff000;
/// Formats CJ, CB, CI, and CL and CS (chapter "C", table of formats).
constexpr uint32_t FieldCj = 0x1ffc, FieldCb = 0x1c7c, FieldCi = 0x107c,
                   FieldCl = 0x1c60;
constexpr uint64_t HalfPage = 0x800;

class RiscVNormaliser final : public Normaliser {
public:
  InstructionRow read(std::span<const uint8_t> Code, uint64_t Ip,
                      const Surroundings &Around) override {
    if (Ip != Next)
      Uppers = 0;
    InstructionRow Row = {};
    uint32_t Raw = 0, Word = 0;
    Row.Length = uint8_t(std::min<size_t>(Code.size(), 2));
    std::memcpy(&Raw, Code.data(), Row.Length);
    bool IsShort = (Raw & 3) != 3;
    if (!IsShort && Code.size() >= 4) {
      Row.Length = 4;
      std::memcpy(&Raw, Code.data(), 4);
    }
    if (Row.Length == 4)
      Word = Raw;
    else if (Row.Length == 2 && IsShort)
      Word = expandCompressed(uint16_t(Raw));
    if (Word)
      Raw &= ~addressField(Word, IsShort, Ip, Around, Row);
    std::memcpy(Row.Bytes, &Raw, Row.Length);
    Next = Ip + Row.Length;
    return Row;
  }

private:
  uint64_t Next = 0;
  uint32_t Uppers = 0; ///< registers that hold the upper half of an address

  bool hasUpper(uint32_t Register) const {
    return Register == Gp || (Uppers >> Register & 1);
  }

  /// The bits of the instruction that are part of an address; \p Word is its
  /// long form.
  uint32_t addressField(uint32_t Word, bool IsShort, uint64_t Ip,
                        const Surroundings &Around, InstructionRow &Row) {
    uint32_t Opcode = Word & 0x7f, Field = 0;
    bool WasUpper = hasUpper(rs1(Word)), MakesUpper = false;
    switch (Opcode) {
    case Jal:
      Row.TargetIs =
          Around.kindOfTarget(Ip + uint64_t(immediateJ(Word)), Row.Target);
      Row.IsJump = rd(Word) == Zero;
      Field = IsShort ? FieldCj : FieldU;
      break;
    case Branch:
      Row.TargetIs =
          Around.kindOfTarget(Ip + uint64_t(immediateB(Word)), Row.Target);
      Row.IsJump = true;
      return IsShort ? FieldCb : FieldS;
    case Auipc:
      MakesUpper = true;
      Field = FieldU;
      break;
    case Lui: {
      uint64_t Page = uint64_t(int64_t(immediateU(Word)));
      MakesUpper = Page + HalfPage > Around.Image.Begin &&
                   Page < Around.Image.End + HalfPage;
      Field = !MakesUpper ? 0 : IsShort ? FieldCi : FieldU;
      break;
    }
    case OpImm:
      if (funct3(Word) != 0 || !WasUpper)
        break;
      Field = IsShort ? FieldCi : FieldI;
      break;
    case Load:
    case LoadFp:
    case Jalr:
      if (WasUpper)
        Field = !IsShort ? FieldI : Opcode == Jalr ? 0 : FieldCl;
      break;
    case Store:
    case StoreFp:
      if (WasUpper)
        return mark(Row, IsShort ? FieldCl : FieldS);
      return 0;
    case Register:
      // The upper half and an index are still one.
      MakesUpper = Word >> 25 == 0 && funct3(Word) == 0 &&
                   (hasUpper(rs1(Word)) != hasUpper(rs2(Word))) &&
                   rs1(Word) != Zero;
      break;
    default:
      break;
    }
    if (Opcode != StoreFp && Opcode != LoadFp)
      Uppers &= ~(1u << rd(Word));
    if (MakesUpper)
      Uppers |= 1u << rd(Word);
    if (Opcode == Jal)
      return Field;
    return Field ? mark(Row, Field) : 0;
  }

  static uint32_t mark(InstructionRow &Row, uint32_t Field) {
    Row.OtherIs = Operand::Address;
    return Field;
  }
};

} // namespace

std::unique_ptr<Normaliser> riscv::makeNormaliser() {
  return std::make_unique<RiscVNormaliser>();
}

} // namespace linemate
