//===- X86Tests.h - What x86-64 instructions compare ------------*- C++ -*-===//
//
// Owns what comparisons ask, and which register an atomic exchange of any kind
// has beside the memory: together these tell whether a word was taken.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ACCESS_X86TESTS_H
#define LINEMATE_ACCESS_X86TESTS_H

#include "X86Registers.h"

namespace linemate::x86 {

/// The register that an operand is, MemReg for memory.
inline int8_t placeOf(const cs_x86_op &Operand) {
  if (Operand.type == X86_OP_MEM)
    return MemReg;
  return Operand.type == X86_OP_REG ? X86Registers[Operand.reg].Number : NoReg;
}

/// cmp, and test of a register with itself or its lowest bit.
inline void addTest(const cs_insn &Insn, Op &Out) {
  const cs_x86_op &Left = Insn.detail->x86.operands[0];
  const cs_x86_op &Right = Insn.detail->x86.operands[1];
  bool IsCompare = Insn.id == X86_INS_CMP, IsNumber = Right.type == X86_OP_IMM;
  if (IsCompare ? IsNumber && Right.imm >= 0 && Right.imm <= UINT8_MAX
                : Right.type == X86_OP_REG && Right.reg == Left.reg) {
    Out.Tested = placeOf(Left);
    Out.Against = IsCompare ? uint8_t(Right.imm) : 0;
  }
  if (IsCompare && !IsNumber) {
    Out.Compared = placeOf(Left);
    Out.ComparedTo = placeOf(Right);
  }
  if (!IsCompare && IsNumber && Right.imm == 1)
    Out.BitTested = placeOf(Left);
  Out.AgainstNegative = IsCompare && IsNumber && Right.imm < 0;
}

/// What tells a count of rounds: see Rounds.
inline void addRounds(const cs_insn &Insn, Op &Out) {
  const cs_x86 &X = Insn.detail->x86;
  switch (Insn.id) {
  case X86_INS_CMP:
  case X86_INS_TEST:
    Out.Asked = placeOf(X.operands[0]);
    if (Insn.id == X86_INS_TEST && X.operands[1].type == X86_OP_IMM)
      Out.Mask = uint32_t(X.operands[1].imm);
    break;
  case X86_INS_ROR:
  case X86_INS_ROL:
  case X86_INS_NOT:
    Out.Rotated = placeOf(X.operands[0]);
    break;
  case X86_INS_RORX:
    Out.Rotated = placeOf(X.operands[1]);
    break;
  case X86_INS_IMUL:
    Out.Multiplies = X.op_count == 2 && X.operands[1].type == X86_OP_REG;
    break;
  case X86_INS_DIV:
  case X86_INS_IDIV:
    if (X.operands[0].size >= 4) {
      Out.Divided = X86Registers[X86_REG_EAX].Number;
      Out.Remainder = X86Registers[X86_REG_EDX].Number;
    }
    break;
  case X86_INS_INC:
  case X86_INS_DEC:
    Out.StepsMemory = X.operands[0].type == X86_OP_MEM;
    break;
  case X86_INS_ADD:
  case X86_INS_SUB:
    Out.StepsMemory = X.operands[0].type == X86_OP_MEM &&
                      X.operands[1].type == X86_OP_IMM &&
                      (X.operands[1].imm == 1 || X.operands[1].imm == -1);
    break;
  default:
    break;
  }
}

/// What a loop that waits does with a word before it tests it: it loads it, of
/// any width, and without optimisation negates a bool, or makes one of a test.
inline void addWaits(const cs_insn &Insn, Op &Out) {
  const cs_x86 &X = Insn.detail->x86;
  if (Insn.id == X86_INS_SETE || Insn.id == X86_INS_SETNE) {
    Out.AnsweredIn = placeOf(X.operands[0]);
    Out.AnswersZero = Insn.id == X86_INS_SETE;
  }
  if (X.op_count != 2)
    return;
  int8_t To = placeOf(X.operands[0]);
  switch (Insn.id) {
  case X86_INS_MOV:
  case X86_INS_MOVZX:
  case X86_INS_MOVSX:
  case X86_INS_MOVSXD:
    if (isFollowed(To) && X.operands[1].type == X86_OP_MEM)
      Out.Got = To;
    break;
  case X86_INS_XOR:
    if (isFollowed(To) && X.operands[1].type == X86_OP_IMM &&
        X.operands[1].imm & 1)
      Out.Turned = To;
    break;
  default:
    break;
  }
}

/// The register beside the memory of xchg, cmpxchg and xadd.
inline void addExchange(const cs_insn &Insn, Op &Out) {
  const cs_x86 &X = Insn.detail->x86;
  for (unsigned I = 0; I < X.op_count; ++I) {
    int8_t Reg = placeOf(X.operands[I]);
    if (!isFollowed(Reg))
      continue;
    if (Insn.id == X86_INS_CMPXCHG) {
      Out.Proposed = Reg;
      continue;
    }
    (Insn.id == X86_INS_XCHG ? Out.Swapped : Out.Added) = Reg;
    Out.Clobbers |= bit(Reg);
  }
}

} // namespace linemate::x86

#endif // LINEMATE_ACCESS_X86TESTS_H
