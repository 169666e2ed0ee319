//===- X86Vectors.h - Halves of x86-64 vector registers ---------*- C++ -*-===//
//
// Owns which instructions move words of 8 bytes into and out of the halves of
// the SSE registers: compilers fill new objects by these, two words at a time.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ACCESS_X86VECTORS_H
#define LINEMATE_ACCESS_X86VECTORS_H

#include "X86Registers.h"

namespace linemate::x86 {

/// 0 to 15, NoReg for anything else; the wider forms write the same register.
inline int8_t vectorNumber(unsigned Reg) {
  for (unsigned First : {X86_REG_XMM0, X86_REG_YMM0})
    if (Reg >= First && Reg < First + MaxVectors)
      return int8_t(Reg - First);
  return NoReg;
}

/// Fills Op::Vector and the registers beside it.
inline void addVectors(const cs_insn &Insn, Op &Out) {
  const cs_x86 &X = Insn.detail->x86;
  if (X.op_count < 2)
    return;
  const cs_x86_op &To = X.operands[0], &From = X.operands[1];
  bool IsMove = Insn.id == X86_INS_MOVUPS || Insn.id == X86_INS_MOVAPS ||
                Insn.id == X86_INS_MOVDQA || Insn.id == X86_INS_MOVDQU ||
                Insn.id == X86_INS_MOVUPD || Insn.id == X86_INS_MOVAPD;
  int8_t Source = From.type == X86_OP_REG ? vectorNumber(From.reg) : NoReg;
  if (To.type == X86_OP_MEM) {
    if (IsMove)
      Out.VectorStored = Source;
    return;
  }
  if (To.type != X86_OP_REG)
    return;
  Out.VectorDst = vectorNumber(To.reg);
  if (Out.VectorDst == NoReg)
    return;
  GeneralReg General =
      From.type == X86_OP_REG ? X86Registers[From.reg] : GeneralReg();
  bool IsMemory = From.type == X86_OP_MEM;
  if (IsMove) {
    Out.Vector = IsMemory ? VectorMove::Load : VectorMove::Copy;
    Out.VectorFrom = Source;
    if (!IsMemory && Source == NoReg)
      Out.Vector = VectorMove::Unknown;
  } else if (Insn.id == X86_INS_MOVQ && General.Width == 8) {
    Out.Vector = VectorMove::Low;
    Out.VectorFrom = General.Number;
  } else if (Insn.id == X86_INS_MOVQ && IsMemory) {
    Out.Vector = VectorMove::LowLoad;
  } else if (Insn.id == X86_INS_MOVHPS && IsMemory) {
    Out.Vector = VectorMove::HighLoad;
  } else if (Insn.id == X86_INS_PINSRQ && General.Width == 8 &&
             X.op_count == 3 && X.operands[2].imm == 1) {
    Out.Vector = VectorMove::High;
    Out.VectorFrom = General.Number;
  } else if (Insn.id == X86_INS_PUNPCKLQDQ && Source != NoReg) {
    Out.Vector = VectorMove::Upper;
    Out.VectorFrom = Source;
  }
}

} // namespace linemate::x86

#endif // LINEMATE_ACCESS_X86VECTORS_H
