//===- TraitsRiscV.cpp - RISC-V instructions for queries ------------------===//
//
// Owns the traits of RISC-V instructions and what they do to bits (Op.h).
//
//===----------------------------------------------------------------------===//

#include "RiscVFormats.h"

namespace linemate {

using namespace riscv;

/// A bit that is chosen by number, or a word of bits that others join.
static void addBits(uint32_t Word, Op &Out) {
  uint32_t Opcode = Word & 0x7f;
  uint32_t Function = funct7(Word) << 3 | funct3(Word);
  bool IsNumber = Opcode == OpImm || Opcode == OpImm32;
  int8_t Left = followed(rs1(Word)), Right = followed(rs2(Word));
  Out.BitsTo = followed(rd(Word));
  Out.BitsFrom = Left;
  Out.BitsFrom2 = IsNumber ? Left : Right;
  if (Opcode == Amo) {
    constexpr uint32_t Sets = 1u << 3 | 1u << 4 | 1u << 5 | 1u << 8 | 1u << 12;
    Out.Bits =
        Sets >> (Word >> 27) & 1 ? BitWork::Combines : BitWork::None; // sc, cas
    Out.BitsFrom = Right;
    Out.BitsFrom2 = NoReg;
    Out.BitsTo = NoReg;
  } else if (IsNumber && funct3(Word) & 4 && funct3(Word) != 5) {
    Out.Bits = BitWork::Combines; // xori, ori, andi
  } else if (Opcode != Register && Opcode != Register32) {
    Out.BitsTo = NoReg;
  } else if (Function == 1 || Function == (0x30 << 3 | 1)) { // sll, rol
    Out.Bits = BitWork::Shifts;
  } else if ((Function & ~(0x20u << 3 | 7)) == 0 && funct3(Word) & 4 &&
             funct3(Word) != 5) { // xor, or, and; xnor, orn, andn
    Out.Bits = BitWork::Combines;
  } else {
    Out.BitsTo = NoReg;
  }
}

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
    else if (Word == Ebreak || Word == Unimp)
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
  addBits(Word, Out);
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
