//===- Conditions.h - What branches ask of the last comparison --*- C++ -*-===//
//
// Owns which condition codes of x86-64 and aarch64 ask for an order with zero.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ACCESS_CONDITIONS_H
#define LINEMATE_ACCESS_CONDITIONS_H

#include "Op.h"

#include <capstone/capstone.h>

namespace linemate {

inline OnSign signOf(x86_insn Branch) {
  switch (Branch) {
  case X86_INS_JS:
  case X86_INS_JL:
    return OnSign::Negative;
  case X86_INS_JLE:
    return OnSign::NotPositive;
  case X86_INS_JNS:
  case X86_INS_JGE:
    return OnSign::NotNegative;
  case X86_INS_JG:
    return OnSign::Positive;
  default:
    return OnSign::Unknown;
  }
}

/// What a branch asks of the order of two numbers.
inline void addOrder(x86_insn Branch, Op &Out) {
  switch (Branch) {
  case X86_INS_JB:
  case X86_INS_JL:
    Out.Order = OnOrder::Below;
    break;
  case X86_INS_JBE:
  case X86_INS_JLE:
    Out.Order = OnOrder::BelowOrSame;
    break;
  case X86_INS_JA:
  case X86_INS_JG:
    Out.Order = OnOrder::Above;
    break;
  case X86_INS_JAE:
  case X86_INS_JGE:
    Out.Order = OnOrder::AboveOrSame;
    break;
  default:
    return;
  }
  Out.Unsigned = Branch == X86_INS_JB || Branch == X86_INS_JBE ||
                 Branch == X86_INS_JA || Branch == X86_INS_JAE;
}

inline OnSign signOf(arm64_cc Condition) {
  switch (Condition) {
  case ARM64_CC_LT:
  case ARM64_CC_MI:
    return OnSign::Negative;
  case ARM64_CC_LE:
    return OnSign::NotPositive;
  case ARM64_CC_GE:
  case ARM64_CC_PL:
    return OnSign::NotNegative;
  case ARM64_CC_GT:
    return OnSign::Positive;
  default:
    return OnSign::Unknown;
  }
}

/// Whether cbz, cbnz, tbz and tbnz test no bit of a set: the lowest is all that
/// there is of a truth value.
inline bool testsWhole(const cs_arm64 &A) {
  return A.op_count == 2 || A.operands[1].imm == 0;
}

/// The bit of tbz and tbnz that tells the sign of so many bytes.
inline bool isSignBit(int64_t Bit, unsigned Width) {
  return Bit == int64_t(8 * Width) - 1;
}

/// A number that cmn compares with the negative of.
inline bool isPositive(const cs_arm64_op &O) {
  return O.type == ARM64_OP_IMM && O.imm > 0;
}

} // namespace linemate

#endif // LINEMATE_ACCESS_CONDITIONS_H
