//===- X86Vectors.h - Halves of x86-64 vector registers ---------*- C++ -*-===//
//
// Owns which instructions move words of 8 bytes into and out of the halves of
// the SSE registers: compilers fill new objects by these, two words at a time.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ACCESS_X86VECTORS_H
#define LINEMATE_ACCESS_X86VECTORS_H

#include "X86Registers.h"

#include <algorithm>
#include <initializer_list>

namespace linemate::x86 {

/// 0 to 15, NoReg for anything else; the wider forms write the same register.
inline int8_t vectorNumber(unsigned Reg) {
  for (unsigned First : {X86_REG_XMM0, X86_REG_YMM0})
    if (Reg >= First && Reg < First + MaxVectors)
      return int8_t(Reg - First);
  return NoReg;
}

inline bool isOneOf(unsigned Id, std::initializer_list<unsigned> All) {
  return std::ranges::find(All, Id) != All.end();
}

inline bool movesWhole(unsigned Id) {
  return isOneOf(Id, {X86_INS_MOVUPS, X86_INS_MOVAPS, X86_INS_MOVDQA,
                      X86_INS_MOVDQU, X86_INS_MOVUPD, X86_INS_MOVAPD,
                      X86_INS_VMOVUPS, X86_INS_VMOVAPS, X86_INS_VMOVDQA,
                      X86_INS_VMOVDQU, X86_INS_VMOVUPD, X86_INS_VMOVAPD});
}

/// The upper half of a vector register, to or from memory.
inline bool movesUpper(unsigned Id) {
  return isOneOf(
      Id, {X86_INS_MOVHPS, X86_INS_MOVHPD, X86_INS_VMOVHPS, X86_INS_VMOVHPD});
}

/// A half of one: to or from memory, or the lower one from a general register.
inline bool movesHalf(unsigned Id) {
  return movesUpper(Id) ||
         isOneOf(Id, {X86_INS_MOVQ, X86_INS_VMOVQ, X86_INS_MOVLPS,
                      X86_INS_MOVLPD, X86_INS_VMOVLPS, X86_INS_VMOVLPD});
}

/// Such a move into a vector register.
inline void addHalf(const cs_insn &Insn, Op &Out) {
  const cs_x86 &X = Insn.detail->x86;
  const cs_x86_op &From = X.operands[X.op_count - 1];
  GeneralReg General =
      From.type == X86_OP_REG ? X86Registers[From.reg] : GeneralReg();
  bool IsWhole = isOneOf(Insn.id, {X86_INS_MOVQ, X86_INS_VMOVQ});
  if (IsWhole && General.Width == 8) {
    Out.Vector = VectorMove::Low;
    Out.VectorFrom = General.Number;
  } else if (IsWhole && From.type == X86_OP_MEM) {
    Out.Vector = VectorMove::LowLoad;
  } else if (movesUpper(Insn.id) && From.type == X86_OP_MEM) {
    Out.Vector = VectorMove::HighLoad;
    Out.VectorLow = X.op_count == 3 && X.operands[1].type == X86_OP_REG
                        ? vectorNumber(X.operands[1].reg)
                        : Out.VectorDst;
  }
}

/// Fills Op::Vector and the registers beside it.
inline void addVectors(const cs_insn &Insn, Op &Out) {
  const cs_x86 &X = Insn.detail->x86;
  if (X.op_count < 2)
    return;
  const cs_x86_op &To = X.operands[0], &From = X.operands[1];
  bool IsMove = movesWhole(Insn.id);
  int8_t Source = From.type == X86_OP_REG ? vectorNumber(From.reg) : NoReg;
  if (To.type == X86_OP_MEM) {
    if (IsMove || movesHalf(Insn.id))
      Out.VectorStored = Source;
    Out.StoresUpper = movesUpper(Insn.id);
    return;
  }
  if (To.type != X86_OP_REG)
    return;
  Out.VectorDst = vectorNumber(To.reg);
  if (Out.VectorDst == NoReg)
    return;
  bool IsMemory = From.type == X86_OP_MEM;
  if (IsMove) {
    Out.Vector = IsMemory ? VectorMove::Load : VectorMove::Copy;
    Out.VectorFrom = Source;
    if (!IsMemory && Source == NoReg)
      Out.Vector = VectorMove::Unknown;
  } else if (movesHalf(Insn.id)) {
    addHalf(Insn, Out);
  } else if (isOneOf(Insn.id, {X86_INS_PINSRQ, X86_INS_VPINSRQ})) {
    const cs_x86_op &Half = X.operands[X.op_count - 1];
    const cs_x86_op &Word = X.operands[X.op_count - 2];
    GeneralReg Number =
        Word.type == X86_OP_REG ? X86Registers[Word.reg] : GeneralReg();
    if (Number.Width == 8 && Half.imm == 1) {
      Out.Vector = VectorMove::High;
      Out.VectorLow = X.op_count == 4 ? Source : Out.VectorDst;
      Out.VectorFrom = Number.Number;
    }
  } else if (isOneOf(Insn.id,
                     {X86_INS_PUNPCKLQDQ, X86_INS_VPUNPCKLQDQ, X86_INS_MOVLHPS,
                      X86_INS_VMOVLHPS, X86_INS_UNPCKLPD, X86_INS_VUNPCKLPD})) {
    const cs_x86_op &Upper = X.operands[X.op_count - 1];
    int8_t From = Upper.type == X86_OP_REG ? vectorNumber(Upper.reg) : NoReg;
    Out.VectorLow = X.op_count == 3 ? Source : Out.VectorDst;
    Out.VectorFrom = From;
    if (Upper.type == X86_OP_MEM)
      Out.Vector = VectorMove::HighLoad;
    else if (From != NoReg && Out.VectorLow != NoReg)
      Out.Vector = VectorMove::Lowers;
  }
}

} // namespace linemate::x86

#endif // LINEMATE_ACCESS_X86VECTORS_H
