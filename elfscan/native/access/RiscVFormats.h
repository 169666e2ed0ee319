//===- RiscVFormats.h - Opcodes and registers of RISC-V ---------*- C++ -*-===//
//
// Owns the major opcodes (The RISC-V Instruction Set Manual, volume I, chapter
// "RV32/64G Instruction Set Listings") and the registers that have a role in
// the psABI's calling convention; declares what the sources of RISC-V have of
// each other.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ACCESS_RISCVFORMATS_H
#define LINEMATE_ACCESS_RISCVFORMATS_H

#include "Normal.h"
#include "Op.h"

#include <cstdint>
#include <memory>

namespace linemate::riscv {

enum Opcode : uint32_t {
  Load = 0x03,
  LoadFp = 0x07,
  MiscMem = 0x0f,
  OpImm = 0x13,
  Auipc = 0x17,
  OpImm32 = 0x1b,
  Store = 0x23,
  StoreFp = 0x27,
  Amo = 0x2f,
  Register = 0x33,
  Lui = 0x37,
  Register32 = 0x3b,
  Madd = 0x43, ///< and the three of its kind up to 0x4f
  Nmadd = 0x4f,
  Fp = 0x53,
  Vector = 0x57,
  Branch = 0x63,
  Jalr = 0x67,
  Jal = 0x6f,
  System = 0x73,
};

enum RegisterName : uint32_t {
  Zero = 0,
  Ra = 1,
  Sp = 2,
  Gp = 3,
  Tp = 4,
  T0 = 5,
  A0 = 10,
  A1 = 11,
};

inline constexpr uint32_t Ecall = 0x00000073;
inline constexpr uint32_t Ebreak = 0x00100073;
inline constexpr uint32_t Sret = 0x10200073;
inline constexpr uint32_t Mret = 0x30200073;
/// csrrw x0, cycle, x0: what assemblers write for unimp.
inline constexpr uint32_t Unimp = 0xc0001073;

constexpr uint32_t rd(uint32_t Word) { return Word >> 7 & 31; }
constexpr uint32_t rs1(uint32_t Word) { return Word >> 15 & 31; }
constexpr uint32_t rs2(uint32_t Word) { return Word >> 20 & 31; }
constexpr uint32_t funct3(uint32_t Word) { return Word >> 12 & 7; }
constexpr uint32_t funct7(uint32_t Word) { return Word >> 25; }

constexpr int32_t immediateI(uint32_t Word) { return int32_t(Word) >> 20; }
constexpr int32_t immediateS(uint32_t Word) {
  return (int32_t(Word) >> 25) * 32 + int32_t(rd(Word));
}
constexpr int32_t immediateB(uint32_t Word) {
  return int32_t((Word >> 7 & 1) << 11 | (Word >> 8 & 15) << 1 |
                 (Word >> 25 & 63) << 5) +
         (int32_t(Word) >> 31) * 4096;
}
constexpr int32_t immediateU(uint32_t Word) {
  return int32_t(Word & 0xfffff000);
}
constexpr int32_t immediateJ(uint32_t Word) {
  return int32_t((Word >> 21 & 0x3ff) << 1 | (Word >> 20 & 1) << 11 |
                 (Word & 0xff000)) +
         (int32_t(Word) >> 31) * (1 << 20);
}

/// What tp holds is no value of the function's own.
constexpr int8_t followed(uint32_t Number) {
  if (Number == Zero)
    return ZeroReg;
  return Number == Tp ? ThreadReg : int8_t(Number);
}

std::unique_ptr<Normaliser> makeNormaliser();

/// Fills in the traits of Op.h.
void addTraits(uint32_t Word, Op &Out);

} // namespace linemate::riscv

#endif // LINEMATE_ACCESS_RISCVFORMATS_H
