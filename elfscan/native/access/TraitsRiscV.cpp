//===- TraitsRiscV.cpp - RISC-V instructions for queries ------------------===//
//
// Owns the traits of RISC-V instructions (Op.h).
//
//===----------------------------------------------------------------------===//

#include "RiscVFormats.h"

namespace linemate {

using namespace riscv;

void riscv::addTraits(uint32_t Word, Op &Out) {
  uint32_t Opcode = Word & 0x7f, Written = bit(followed(rd(Word)));
  switch (Opcode) {
  case Store:
  case Branch:
    Out.Named = bit(followed(rs1(Word))) | bit(followed(rs2(Word)));
    return;
  case StoreFp:
    Out.Named = bit(followed(rs1(Word)));
    return;
  case System:
    if (Word == Ecall)
      Out.Traits |= SystemCall;
    else if (Word == Ebreak)
      Out.Traits |= Halts;
    return;
  case Lui:
  case Auipc:
  case Jal:
    Out.Named = Written;
    break;
  case Register:
  case Register32:
  case Amo:
    Out.Named = Written | bit(followed(rs1(Word))) | bit(followed(rs2(Word)));
    break;
  case Load:
  case OpImm:
  case OpImm32:
  case Jalr:
    Out.Named = Written | bit(followed(rs1(Word)));
    break;
  case LoadFp:
    Out.Named = bit(followed(rs1(Word)));
    return;
  default:
    return;
  }
  if (!Written)
    return;
  Out.First = followed(rd(Word));
  Out.FirstWidth = 8;
  if (Opcode == OpImm && funct3(Word) == 0 && rs1(Word) == Zero) {
    Out.Small = immediateI(Word);
    Out.Traits |= HasSmall;
  }
  if (Opcode != Amo)
    return;
  constexpr uint32_t Swap = 1, Lr = 2, Sc = 3;
  uint32_t Function = Word >> 27;
  if (Function == Swap)
    Out.Traits |= Exchanges;
  if (Function != Lr && Function != Sc)
    Out.Traits |= KeepsOld;
}

} // namespace linemate
