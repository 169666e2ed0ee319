//===- A64Registers.h - aarch64 registers by capstone's number --*- C++ -*-===//
//
// Owns which general register a name is part of, and declares what the sources
// of aarch64 have of each other.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ACCESS_A64REGISTERS_H
#define LINEMATE_ACCESS_A64REGISTERS_H

#include "Architectures.h"
#include "MemoryForm.h"
#include "Normal.h"
#include "Op.h"

#include <array>
#include <capstone/capstone.h>
#include <cstring>
#include <memory>
#include <span>

namespace linemate {

inline constexpr int8_t A64Sp = 31;

struct A64Reg {
  int8_t Number = NoReg; ///< of a general register
  uint8_t Width = 0;     ///< in bytes, of any register
};

constexpr auto makeA64Registers() {
  std::array<A64Reg, ARM64_REG_ENDING> Map{};
  auto Run = [&Map](unsigned First, unsigned Count, uint8_t Width,
                    bool General) {
    for (unsigned I = 0; I < Count; ++I)
      Map[First + I] = {General ? int8_t(I) : OtherReg, Width};
  };
  Run(ARM64_REG_B0, 32, 1, false);
  Run(ARM64_REG_H0, 32, 2, false);
  Run(ARM64_REG_S0, 32, 4, false);
  Run(ARM64_REG_D0, 32, 8, false);
  Run(ARM64_REG_Q0, 32, 16, false);
  Run(ARM64_REG_V0, 32, 16, false);
  Run(ARM64_REG_W0, 31, 4, true);
  Run(ARM64_REG_X0, 29, 8, true);
  Map[ARM64_REG_FP] = {29, 8};
  Map[ARM64_REG_LR] = {30, 8};
  Map[ARM64_REG_SP] = {A64Sp, 8};
  Map[ARM64_REG_WSP] = {A64Sp, 4};
  Map[ARM64_REG_XZR] = {ZeroReg, 8};
  Map[ARM64_REG_WZR] = {ZeroReg, 4};
  return Map;
}

inline constexpr auto A64Registers = makeA64Registers();

inline A64Reg info(const cs_arm64_op &Operand) {
  return Operand.type == ARM64_OP_REG && Operand.reg < A64Registers.size()
             ? A64Registers[Operand.reg]
             : A64Reg();
}

inline A64Reg info(arm64_reg Reg) {
  return Reg < A64Registers.size() ? A64Registers[Reg] : A64Reg();
}

namespace a64 {

std::unique_ptr<Normaliser> makeNormaliser();

/// Fills what queries ask: Op::Named, Traits, First and Small.
void addTraits(const cs_insn &Insn, const MemoryForm &F, Op &Out);
bool namesThread(std::span<const uint8_t> Code);
bool namesAddress(std::span<const uint8_t> Code, uint64_t Begin,
                  const WantedAddresses &Wanted);

} // namespace a64

/// capstone keeps it where it keeps a register, though it is none of that enum.
inline uint32_t systemRegister(const cs_arm64_op &Operand) {
  uint32_t Number;
  static_assert(sizeof Operand.reg == sizeof Number);
  std::memcpy(&Number, &Operand.reg, sizeof Number);
  return Number;
}

} // namespace linemate

#endif // LINEMATE_ACCESS_A64REGISTERS_H
