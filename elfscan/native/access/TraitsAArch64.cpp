//===- TraitsAArch64.cpp - aarch64 instructions for queries ---------------===//
//
// Owns the traits of aarch64 instructions (Op.h).
//
//===----------------------------------------------------------------------===//

#include "A64Registers.h"

namespace linemate {

void a64::addTraits(const cs_insn &Insn, const MemoryForm &F, Op &Out) {
  const cs_arm64 &A = Insn.detail->arm64;
  for (unsigned I = 0; I < A.op_count; ++I) {
    const cs_arm64_op &Operand = A.operands[I];
    if (Operand.type == ARM64_OP_MEM)
      Out.Named |= bit(info(Operand.mem.base).Number) |
                   bit(info(Operand.mem.index).Number);
    Out.Named |= bit(info(Operand).Number);
  }
  if (A.op_count && isFollowed(info(A.operands[0]).Number)) {
    Out.First = info(A.operands[0]).Number;
    Out.FirstWidth = info(A.operands[0]).Width;
  }
  if (A.op_count == 2 && A.operands[1].type == ARM64_OP_IMM &&
      A.operands[1].shift.value == 0 &&
      A.operands[1].imm == int32_t(A.operands[1].imm)) {
    Out.Small = int32_t(A.operands[1].imm);
    Out.Traits |= HasSmall;
  }
  Out.Traits |= F.KeepsOld ? KeepsOld : 0;
  Out.Traits |= F.IsExchange ? Exchanges : 0;
  switch (Insn.id) {
  case ARM64_INS_CMP:
  case ARM64_INS_CMN:
  case ARM64_INS_TST:
  case ARM64_INS_CCMP:
  case ARM64_INS_SUBS:
  case ARM64_INS_ANDS:
    Out.Traits |= Compares;
    return;
  case ARM64_INS_CSET:
  case ARM64_INS_CSETM:
    Out.Traits |= TakesFlags;
    return;
  case ARM64_INS_BRK:
  case ARM64_INS_HLT:
  case ARM64_INS_UDF:
    Out.Traits |= Halts;
    return;
  case ARM64_INS_SVC:
    Out.Traits |= SystemCall;
    Out.Clobbers |= bit(0);
    return;
  default:
    return;
  }
}

} // namespace linemate
