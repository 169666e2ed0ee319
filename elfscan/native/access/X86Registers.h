//===- X86Registers.h - x86-64 registers by capstone's number ---*- C++ -*-===//
//
// Owns which general register a name is part of, and declares what the sources
// of x86-64 have of each other.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ACCESS_X86REGISTERS_H
#define LINEMATE_ACCESS_X86REGISTERS_H

#include "Decoder.h"
#include "Normal.h"
#include "Op.h"

#include <array>
#include <capstone/capstone.h>
#include <memory>

namespace linemate {

inline constexpr int8_t X86Rsp = 4;

struct GeneralReg {
  int8_t Number = NoReg;
  uint8_t Width = 0;
};

constexpr auto makeX86Registers() {
  std::array<GeneralReg, X86_REG_ENDING> Map{};
  constexpr x86_reg Names[16][4] = {
      {X86_REG_RAX, X86_REG_EAX, X86_REG_AX, X86_REG_AL},
      {X86_REG_RCX, X86_REG_ECX, X86_REG_CX, X86_REG_CL},
      {X86_REG_RDX, X86_REG_EDX, X86_REG_DX, X86_REG_DL},
      {X86_REG_RBX, X86_REG_EBX, X86_REG_BX, X86_REG_BL},
      {X86_REG_RSP, X86_REG_ESP, X86_REG_SP, X86_REG_SPL},
      {X86_REG_RBP, X86_REG_EBP, X86_REG_BP, X86_REG_BPL},
      {X86_REG_RSI, X86_REG_ESI, X86_REG_SI, X86_REG_SIL},
      {X86_REG_RDI, X86_REG_EDI, X86_REG_DI, X86_REG_DIL},
      {X86_REG_R8, X86_REG_R8D, X86_REG_R8W, X86_REG_R8B},
      {X86_REG_R9, X86_REG_R9D, X86_REG_R9W, X86_REG_R9B},
      {X86_REG_R10, X86_REG_R10D, X86_REG_R10W, X86_REG_R10B},
      {X86_REG_R11, X86_REG_R11D, X86_REG_R11W, X86_REG_R11B},
      {X86_REG_R12, X86_REG_R12D, X86_REG_R12W, X86_REG_R12B},
      {X86_REG_R13, X86_REG_R13D, X86_REG_R13W, X86_REG_R13B},
      {X86_REG_R14, X86_REG_R14D, X86_REG_R14W, X86_REG_R14B},
      {X86_REG_R15, X86_REG_R15D, X86_REG_R15W, X86_REG_R15B},
  };
  constexpr uint8_t Widths[4] = {8, 4, 2, 1};
  for (int8_t N = 0; N < 16; ++N)
    for (unsigned W = 0; W < 4; ++W)
      Map[Names[N][W]] = {N, Widths[W]};
  Map[X86_REG_AH] = {0, 1};
  Map[X86_REG_CH] = {1, 1};
  Map[X86_REG_DH] = {2, 1};
  Map[X86_REG_BH] = {3, 1};
  return Map;
}

inline constexpr auto X86Registers = makeX86Registers();

namespace x86 {

/// cmd/compile/abi-internal.md: r14 is the goroutine, rdx a closure's data, and
/// no call keeps anything but the stack and frame pointers and r14.
extern const Convention GoInternal;

/// Null when the disassembler library cannot be opened.
std::unique_ptr<Decoder> makeDecoder();
std::unique_ptr<Normaliser> makeNormaliser();

/// Fills what queries ask: Op::Named, Traits, First and Small.
void addTraits(const cs_insn &Insn, Op &Out);

} // namespace x86

} // namespace linemate

#endif // LINEMATE_ACCESS_X86REGISTERS_H
