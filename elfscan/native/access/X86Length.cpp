//===- X86Length.cpp - Where an x86-64 instruction ends -------------------===//
//
// Owns which opcodes have a ModR/M byte and how long their immediates are.
// Written from the Intel SDM, volume 2, appendix A.
//
//===----------------------------------------------------------------------===//

#include "X86Length.h"

#include <array>
#include <initializer_list>

namespace linemate {

namespace {

/// What stands behind an opcode.
enum Behind : uint8_t {
  Nothing = 0,
  ModRM = 1,
  Imm8 = 2,
  Imm16 = 4,
  ImmFull = 8,  ///< 4 bytes, 2 with an operand-size prefix
  ImmWide = 16, ///< 4 bytes, 2 with an operand-size prefix, 8 with REX.W
  Rel8 = 32,
  Rel32 = 64,
  Unknown = 128, ///< a prefix, none of 64-bit code, or not worth a row
};

using Opcodes = std::array<uint8_t, 256>;

constexpr void set(Opcodes &Of, uint8_t What,
                   std::initializer_list<unsigned> Codes) {
  for (unsigned Code : Codes)
    Of[Code] = What;
}

constexpr void setRange(Opcodes &Of, uint8_t What, unsigned First,
                        unsigned Last) {
  for (unsigned Code = First; Code <= Last; ++Code)
    Of[Code] = What;
}

constexpr Opcodes makeOneByte() {
  Opcodes Of{};
  for (unsigned Row = 0; Row < 0x40; Row += 8) { // add to cmp
    setRange(Of, ModRM, Row, Row + 3);
    Of[Row + 4] = Imm8;
    Of[Row + 5] = ImmFull;
    setRange(Of, Unknown, Row + 6, Row + 7);
  }
  setRange(Of, Unknown, 0x40, 0x4f);
  setRange(Of, Unknown, 0x60, 0x67);
  Of[0x63] = ModRM;
  Of[0x68] = ImmFull;
  Of[0x69] = ModRM | ImmFull;
  Of[0x6a] = Imm8;
  Of[0x6b] = ModRM | Imm8;
  setRange(Of, Rel8, 0x70, 0x7f);
  Of[0x80] = Of[0x83] = ModRM | Imm8;
  Of[0x81] = ModRM | ImmFull;
  Of[0x82] = Unknown;
  setRange(Of, ModRM, 0x84, 0x8e);
  set(Of, Unknown, {0x8f, 0x9a, 0xc4, 0xc5, 0xc8, 0xce});
  setRange(Of, Unknown, 0xa0, 0xa3);
  Of[0xa8] = Imm8;
  Of[0xa9] = ImmFull;
  setRange(Of, Imm8, 0xb0, 0xb7);
  setRange(Of, ImmWide, 0xb8, 0xbf);
  set(Of, ModRM | Imm8, {0xc0, 0xc1, 0xc6});
  Of[0xc7] = ModRM | ImmFull;
  Of[0xc2] = Of[0xca] = Imm16;
  Of[0xcd] = Imm8;
  setRange(Of, ModRM, 0xd0, 0xd3);
  setRange(Of, Unknown, 0xd4, 0xd6);
  setRange(Of, ModRM, 0xd8, 0xdf);
  setRange(Of, Rel8, 0xe0, 0xe3);
  setRange(Of, Imm8, 0xe4, 0xe7);
  Of[0xe8] = Of[0xe9] = Rel32;
  Of[0xea] = Unknown;
  Of[0xeb] = Rel8;
  set(Of, Unknown, {0xf0, 0xf2, 0xf3});
  set(Of, ModRM, {0xf6, 0xf7, 0xfe, 0xff});
  return Of;
}

constexpr Opcodes makeTwoBytes() {
  Opcodes Of{};
  Of.fill(ModRM);
  set(Of, Nothing,
      {0x05, 0x06, 0x07, 0x08, 0x09, 0x0b, 0x0e, 0x77, 0xa0, 0xa1, 0xa2, 0xa8,
       0xa9, 0xaa});
  setRange(Of, Nothing, 0x30, 0x35);
  setRange(Of, Nothing, 0xc8, 0xcf);
  set(Of, Unknown, {0x04, 0x0a, 0x0c, 0x0f, 0x36, 0x37, 0x78, 0x79, 0xff});
  setRange(Of, Unknown, 0x20, 0x27);
  setRange(Of, Unknown, 0x38, 0x3f);
  setRange(Of, ModRM | Imm8, 0x70, 0x73);
  set(Of, ModRM | Imm8, {0xa4, 0xac, 0xba, 0xc2, 0xc4, 0xc5, 0xc6});
  setRange(Of, Rel32, 0x80, 0x8f);
  return Of;
}

constexpr Opcodes OneByte = makeOneByte(), TwoBytes = makeTwoBytes();

/// Prefixes that 64-bit code has; REX aside.
constexpr bool isPrefix(uint8_t Byte) {
  switch (Byte) {
  case 0x26:
  case 0x2e:
  case 0x36:
  case 0x3e:
  case 0x64:
  case 0x65:
  case 0x66:
  case 0x67:
  case 0xf0:
  case 0xf2:
  case 0xf3:
    return true;
  default:
    return false;
  }
}

constexpr uint8_t OperandSize = 0x66, AddressSize = 0x67;

/// An instruction that is read from the front.
class Reader {
public:
  explicit Reader(const uint8_t *Code) : Code(Code) {}

  X86Outline read() {
    readPrefixes();
    uint8_t What = readOpcode();
    if (What & Unknown || At > MaxX86Length)
      return {};
    uint8_t Opcode = Code[At - 1];
    if (What & ModRM && !readOperand(Opcode, What))
      return {};
    if (What & (Rel8 | Rel32) && !readTarget(What))
      return {};
    At += What & Imm8 ? 1 : What & Imm16 ? 2 : 0;
    if (What & ImmWide && IsWide)
      At += 8;
    else if (What & (ImmFull | ImmWide))
      At += HasOperandSize && !IsWide ? 2 : 4;
    if (At > MaxX86Length)
      return {};
    Result.Length = uint8_t(At);
    return Result;
  }

private:
  const uint8_t *Code;
  unsigned At = 0;
  bool HasOperandSize = false, HasAddressSize = false, HasOther = false;
  bool IsWide = false; ///< REX.W
  bool IsOneByte = false;
  X86Outline Result;

  void readPrefixes() {
    for (; At < MaxX86Length && isPrefix(Code[At]); ++At) {
      HasOperandSize |= Code[At] == OperandSize;
      HasAddressSize |= Code[At] == AddressSize;
      HasOther |= Code[At] != OperandSize && Code[At] != AddressSize;
    }
    if (At < MaxX86Length && (Code[At] & 0xf0) == 0x40)
      IsWide = Code[At++] & 8;
  }

  /// Comes to behind the opcode, and says what follows.
  uint8_t readOpcode() {
    if (At + 5 > MaxX86Length)
      return Unknown;
    switch (Code[At]) {
    case 0x0f:
      ++At;
      if (Code[At] == 0x38 || Code[At] == 0x3a)
        return readMap(Code[At] == 0x38 ? 2 : 3, 1);
      return TwoBytes[Code[At++]];
    case 0xc5:
      return readMap(1, 2);
    case 0xc4:
      return readMap(Code[At + 1] & 0x1f, 3);
    case 0x62:
      return readMap(Code[At + 1] & 7, 4);
    default:
      IsOneByte = true;
      return OneByte[Code[At++]];
    }
  }

  /// An opcode of a map of those behind so many bytes.
  uint8_t readMap(unsigned Map, unsigned Before) {
    At += Before;
    uint8_t Opcode = Code[At++];
    if (Map == 1) // without jumps, and the rest as without VEX
      return TwoBytes[Opcode] & Rel32 ? uint8_t(ModRM) : TwoBytes[Opcode];
    return Map == 2 ? ModRM : Map == 3 ? ModRM | Imm8 : Unknown;
  }

  /// The operand of a ModR/M byte.  False where the byte is part of the opcode
  /// and that has none here.
  bool readOperand(uint8_t Opcode, uint8_t &What) {
    if (At + 2 > MaxX86Length)
      return false;
    uint8_t Byte = Code[At++];
    unsigned Mod = Byte >> 6, Rm = Byte & 7, Reg = Byte >> 3 & 7;
    if (IsOneByte && (Opcode == 0xc6 || Opcode == 0xc7) && Reg)
      return false;
    if (IsOneByte && (Opcode == 0xf6 || Opcode == 0xf7) && Reg < 2)
      What |= Opcode == 0xf6 ? Imm8 : ImmFull;
    if (Mod == 3)
      return true;
    if (Rm == 4) {
      unsigned Base = Code[At++] & 7;
      At += Mod == 1 ? 1 : Mod == 2 || Base == 5 ? 4 : 0;
      return true;
    }
    if (Mod == 0 && Rm == 5) {
      Result.Distance = uint8_t(At);
      Result.DistanceSize = 4;
    }
    At += Mod == 1 ? 1 : Mod == 2 || Rm == 5 ? 4 : 0;
    return true;
  }

  /// Linkers put an address-size prefix in front of calls.
  bool readTarget(uint8_t What) {
    if (HasOperandSize || HasOther)
      return false;
    Result.Distance = uint8_t(At);
    Result.DistanceSize = What & Rel8 ? 1 : 4;
    Result.IsTarget = true;
    At += Result.DistanceSize;
    return true;
  }
};

} // namespace

X86Outline outlineX86(const uint8_t *Code) { return Reader(Code).read(); }

} // namespace linemate
