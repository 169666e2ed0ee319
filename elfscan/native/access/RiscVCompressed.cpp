//===- RiscVCompressed.cpp - The C extension in long form -----------------===//
//
// Owns the formats and tables of the C extension (The RISC-V Instruction Set
// Manual, volume I, chapter "C", tables of quadrants 0 to 2).  Every one of its
// instructions is a short form of one of the base.
//
//===----------------------------------------------------------------------===//

#include "RiscVCompressed.h"
#include "RiscVFormats.h"

namespace linemate {

namespace {

using namespace riscv;

/// Bits [\p High:\p Low] of \p Half, moved to \p At.
constexpr uint32_t bits(uint32_t Half, unsigned High, unsigned Low,
                        unsigned At) {
  return ((Half >> Low) & ((1u << (High - Low + 1)) - 1)) << At;
}

constexpr int32_t signExtend(uint32_t Value, unsigned Width) {
  return int32_t(Value << (32 - Width)) >> (32 - Width);
}

constexpr uint32_t iType(uint32_t Opcode, uint32_t F3, uint32_t Rd,
                         uint32_t Rs1, int32_t Imm) {
  return Opcode | Rd << 7 | F3 << 12 | Rs1 << 15 | uint32_t(Imm) << 20;
}

constexpr uint32_t rType(uint32_t Opcode, uint32_t F3, uint32_t F7, uint32_t Rd,
                         uint32_t Rs1, uint32_t Rs2) {
  return Opcode | Rd << 7 | F3 << 12 | Rs1 << 15 | Rs2 << 20 | F7 << 25;
}

constexpr uint32_t sType(uint32_t Opcode, uint32_t F3, uint32_t Rs1,
                         uint32_t Rs2, uint32_t Imm) {
  return Opcode | (Imm & 31) << 7 | F3 << 12 | Rs1 << 15 | Rs2 << 20 |
         Imm >> 5 << 25;
}

/// beqz (\p F3 0) and bnez (1).
constexpr uint32_t branch(uint32_t F3, uint32_t Rs1, int32_t To) {
  uint32_t Imm = uint32_t(To);
  return Branch | bits(Imm, 11, 11, 7) | bits(Imm, 4, 1, 8) | F3 << 12 |
         Rs1 << 15 | bits(Imm, 10, 5, 25) | bits(Imm, 12, 12, 31);
}

constexpr uint32_t jump(int32_t To) {
  uint32_t Imm = uint32_t(To);
  return Jal | bits(Imm, 19, 12, 12) | bits(Imm, 11, 11, 20) |
         bits(Imm, 10, 1, 21) | bits(Imm, 20, 20, 31);
}

/// CL, CS, CA and CB formats name x8 to x15 in three bits.
constexpr uint32_t shortReg(uint32_t Half, unsigned Low) {
  return 8 + ((Half >> Low) & 7);
}

uint32_t quadrant0(uint32_t H) {
  uint32_t Rd = shortReg(H, 2), Rs1 = shortReg(H, 7);
  uint32_t Word = bits(H, 12, 10, 3) | bits(H, 6, 6, 2) | bits(H, 5, 5, 6);
  uint32_t Double = bits(H, 12, 10, 3) | bits(H, 6, 5, 6);
  switch (H >> 13) {
  case 0: { // c.addi4spn
    uint32_t Imm = bits(H, 12, 11, 4) | bits(H, 10, 7, 6) | bits(H, 6, 6, 2) |
                   bits(H, 5, 5, 3);
    return Imm ? iType(OpImm, 0, Rd, Sp, int32_t(Imm)) : 0;
  }
  case 1: // c.fld
    return iType(LoadFp, 3, Rd, Rs1, int32_t(Double));
  case 2: // c.lw
    return iType(Load, 2, Rd, Rs1, int32_t(Word));
  case 3: // c.ld
    return iType(Load, 3, Rd, Rs1, int32_t(Double));
  case 5: // c.fsd
    return sType(StoreFp, 3, Rs1, Rd, Double);
  case 6: // c.sw
    return sType(Store, 2, Rs1, Rd, Word);
  case 7: // c.sd
    return sType(Store, 3, Rs1, Rd, Double);
  default:
    return 0;
  }
}

/// c.srli, c.srai, c.andi and the operations on two registers.
uint32_t arithmetic(uint32_t H, int32_t Imm) {
  uint32_t Rd = shortReg(H, 7), Rs2 = shortReg(H, 2);
  uint32_t Shift = uint32_t(Imm) & 63;
  switch (H >> 10 & 3) {
  case 0:
    return iType(OpImm, 5, Rd, Rd, int32_t(Shift));
  case 1:
    return iType(OpImm, 5, Rd, Rd, int32_t(Shift | 0x400));
  case 2:
    return iType(OpImm, 7, Rd, Rd, Imm);
  default:
    break;
  }
  switch ((H >> 10 & 4) | (H >> 5 & 3)) {
  case 0: // c.sub
    return rType(Register, 0, 0x20, Rd, Rd, Rs2);
  case 1: // c.xor
    return rType(Register, 4, 0, Rd, Rd, Rs2);
  case 2: // c.or
    return rType(Register, 6, 0, Rd, Rd, Rs2);
  case 3: // c.and
    return rType(Register, 7, 0, Rd, Rd, Rs2);
  case 4: // c.subw
    return rType(Register32, 0, 0x20, Rd, Rd, Rs2);
  case 5: // c.addw
    return rType(Register32, 0, 0, Rd, Rd, Rs2);
  default:
    return 0;
  }
}

uint32_t quadrant1(uint32_t H) {
  uint32_t Rd = H >> 7 & 31;
  int32_t Imm = signExtend(bits(H, 12, 12, 5) | bits(H, 6, 2, 0), 6);
  switch (H >> 13) {
  case 0: // c.addi, c.nop
    return iType(OpImm, 0, Rd, Rd, Imm);
  case 1: // c.addiw
    return Rd ? iType(OpImm32, 0, Rd, Rd, Imm) : 0;
  case 2: // c.li
    return iType(OpImm, 0, Rd, Zero, Imm);
  case 3:
    if (Rd == Sp) { // c.addi16sp
      Imm =
          signExtend(bits(H, 12, 12, 9) | bits(H, 6, 6, 4) | bits(H, 5, 5, 6) |
                         bits(H, 4, 3, 7) | bits(H, 2, 2, 5),
                     10);
      return Imm ? iType(OpImm, 0, Sp, Sp, Imm) : 0;
    }
    return Imm ? Lui | Rd << 7 | uint32_t(Imm) << 12 : 0;
  case 4:
    return arithmetic(H, Imm);
  case 5: // c.j
    return jump(signExtend(bits(H, 12, 12, 11) | bits(H, 11, 11, 4) |
                               bits(H, 10, 9, 8) | bits(H, 8, 8, 10) |
                               bits(H, 7, 7, 6) | bits(H, 6, 6, 7) |
                               bits(H, 5, 3, 1) | bits(H, 2, 2, 5),
                           12));
  default: // c.beqz, c.bnez
    return branch((H >> 13) - 6, shortReg(H, 7),
                  signExtend(bits(H, 12, 12, 8) | bits(H, 11, 10, 3) |
                                 bits(H, 6, 5, 6) | bits(H, 4, 3, 1) |
                                 bits(H, 2, 2, 5),
                             9));
  }
}

/// c.jr, c.mv, c.ebreak, c.jalr, c.add.
uint32_t registers(uint32_t H) {
  uint32_t Rd = H >> 7 & 31, Rs2 = H >> 2 & 31;
  bool Second = H >> 12 & 1;
  if (Rs2)
    return rType(Register, 0, 0, Rd, Second ? Rd : uint32_t(Zero), Rs2);
  if (Rd)
    return iType(Jalr, 0, Second ? uint32_t(Ra) : uint32_t(Zero), Rd, 0);
  return Second ? Ebreak : 0;
}

uint32_t quadrant2(uint32_t H) {
  uint32_t Rd = H >> 7 & 31, Rs2 = H >> 2 & 31;
  uint32_t LoadDouble =
      bits(H, 12, 12, 5) | bits(H, 6, 5, 3) | bits(H, 4, 2, 6);
  uint32_t StoreDouble = bits(H, 12, 10, 3) | bits(H, 9, 7, 6);
  switch (H >> 13) {
  case 0: // c.slli
    return iType(OpImm, 1, Rd, Rd,
                 int32_t(bits(H, 12, 12, 5) | bits(H, 6, 2, 0)));
  case 1: // c.fldsp
    return iType(LoadFp, 3, Rd, Sp, int32_t(LoadDouble));
  case 2: // c.lwsp
    return Rd ? iType(Load, 2, Rd, Sp,
                      int32_t(bits(H, 12, 12, 5) | bits(H, 6, 4, 2) |
                              bits(H, 3, 2, 6)))
              : 0;
  case 3: // c.ldsp
    return Rd ? iType(Load, 3, Rd, Sp, int32_t(LoadDouble)) : 0;
  case 4:
    return registers(H);
  case 5: // c.fsdsp
    return sType(StoreFp, 3, Sp, Rs2, StoreDouble);
  case 6: // c.swsp
    return sType(Store, 2, Sp, Rs2, bits(H, 12, 9, 2) | bits(H, 8, 7, 6));
  default: // c.sdsp
    return sType(Store, 3, Sp, Rs2, StoreDouble);
  }
}

} // namespace

uint32_t expandCompressed(uint16_t Half) {
  switch (Half & 3) {
  case 0:
    return quadrant0(Half);
  case 1:
    return quadrant1(Half);
  case 2:
    return quadrant2(Half);
  default:
    return 0;
  }
}

} // namespace linemate
