//===- TraitsX86.cpp - x86-64 instructions for queries --------------------===//
//
// Owns the traits of x86 instructions and what they do to bits (Op.h).  Written
// from the Intel SDM, volume 2.
//
//===----------------------------------------------------------------------===//

#include "X86Registers.h"
#include "X86Tables.h"

namespace linemate::x86 {

namespace {

constexpr auto makeTraits() {
  std::array<uint16_t, X86_INS_ENDING> Map{};
  auto Set = [&Map](uint16_t Traits, std::initializer_list<unsigned> Ids) {
    for (unsigned Id : Ids)
      Map[Id] = Traits;
  };
  Set(Compares | Fuses, {X86_INS_CMP, X86_INS_TEST});
  Set(Compares, {X86_INS_BT, X86_INS_CMPSB, X86_INS_CMPSW, X86_INS_CMPSQ});
  Set(Exchanges | KeepsOld, {X86_INS_XCHG});
  Set(KeepsOld,
      {X86_INS_XADD, X86_INS_CMPXCHG, X86_INS_CMPXCHG8B, X86_INS_CMPXCHG16B});
  Set(TakesFlags, {X86_INS_SETAE, X86_INS_SETA, X86_INS_SETBE, X86_INS_SETB,
                   X86_INS_SETE, X86_INS_SETGE, X86_INS_SETG, X86_INS_SETLE,
                   X86_INS_SETL, X86_INS_SETNE, X86_INS_SETNO, X86_INS_SETNP,
                   X86_INS_SETNS, X86_INS_SETO, X86_INS_SETP, X86_INS_SETS});
  for (unsigned Id = 0; Id < X86Classes.size(); ++Id)
    if (X86Classes[Id] == X86Class::Select)
      Map[Id] = TakesFlags;
  Set(Halts,
      {X86_INS_UD0, X86_INS_UD1, X86_INS_UD2, X86_INS_HLT, X86_INS_INT3});
  Set(SystemCall, {X86_INS_SYSCALL});
  return Map;
}

constexpr auto Traits = makeTraits();

bool isString(const cs_insn &Insn) {
  const cs_x86 &X = Insn.detail->x86;
  // SSE and string instructions share two names.
  if (Insn.id == X86_INS_MOVSD || Insn.id == X86_INS_CMPSD)
    return X.op_count == 2 && X.operands[0].type == X86_OP_MEM &&
           X.operands[1].type == X86_OP_MEM;
  return Insn.id < X86Classes.size() && X86Classes[Insn.id] == X86Class::String;
}

int8_t numberOf(x86_reg Reg) {
  return Reg < X86Registers.size() ? X86Registers[Reg].Number : NoReg;
}

/// A bit that is chosen by number, or a word of bits that others join.  A
/// number that the instruction names chooses a flag, which each element may
/// have.
void addBits(const cs_insn &Insn, Op &Out) {
  const cs_x86 &X = Insn.detail->x86;
  auto Reg = [&X](unsigned I) {
    return I < X.op_count && X.operands[I].type == X86_OP_REG
               ? numberOf(X.operands[I].reg)
               : NoReg;
  };
  auto IsNumber = [&X](unsigned I) {
    return I < X.op_count && X.operands[I].type == X86_OP_IMM;
  };
  int8_t First = Reg(0), Second = Reg(1);
  switch (Insn.id) {
  case X86_INS_BTS:
  case X86_INS_BTR:
  case X86_INS_BTC:
    if (Second == NoReg)
      return;
    Out.Bits = BitWork::Picks;
    break;
  case X86_INS_SHL:
  case X86_INS_SAL:
  case X86_INS_ROL: // ~(1 << n)
    if (Second == NoReg || First == NoReg)
      return;
    Out.Bits = BitWork::Shifts;
    Out.BitsFrom = First;
    break;
  case X86_INS_SHLX:
    Out.Bits = BitWork::Shifts;
    Out.BitsFrom = Second;
    break;
  case X86_INS_NOT:
    if (First == NoReg)
      return;
    Out.Bits = BitWork::Combines;
    Out.BitsFrom = Out.BitsFrom2 = First;
    break;
  case X86_INS_OR:
  case X86_INS_AND:
  case X86_INS_XOR:
    if (First != NoReg && First == Second)
      return;
    Out.Bits = BitWork::Combines;
    Out.BitsFrom = IsNumber(1) ? First : Second;
    Out.BitsFrom2 = First;
    break;
  case X86_INS_ANDN:
    Out.Bits = BitWork::Combines;
    Out.BitsFrom = Second;
    Out.BitsFrom2 = Reg(2);
    break;
  case X86_INS_CMPXCHG:
    Out.Bits = BitWork::Combines;
    Out.BitsFrom = Second;
    break;
  default:
    return;
  }
  Out.BitsTo = First;
}

} // namespace

void addTraits(const cs_insn &Insn, Op &Out) {
  const cs_x86 &X = Insn.detail->x86;
  Out.Traits = Insn.id < Traits.size() ? Traits[Insn.id] : 0;
  addBits(Insn, Out);
  for (unsigned I = 0; I < X.op_count; ++I) {
    const cs_x86_op &Operand = X.operands[I];
    if (Operand.type == X86_OP_REG)
      Out.Named |= bit(numberOf(Operand.reg));
    else if (Operand.type == X86_OP_MEM)
      Out.Named |=
          bit(numberOf(Operand.mem.base)) | bit(numberOf(Operand.mem.index));
  }
  if (X.op_count && X.operands[0].type == X86_OP_REG &&
      numberOf(X.operands[0].reg) != NoReg) {
    Out.First = numberOf(X.operands[0].reg);
    Out.FirstWidth = X86Registers[X.operands[0].reg].Width;
  }
  if (X.op_count == 2 && X.operands[1].type == X86_OP_IMM &&
      X.operands[1].imm == int32_t(X.operands[1].imm)) {
    Out.Small = int32_t(X.operands[1].imm);
    Out.Traits |= HasSmall;
  }
  if (!isString(Insn))
    return;
  if (Insn.id == X86_INS_CMPSD)
    Out.Traits |= Compares;
  if (X.prefix[0] != X86_PREFIX_REP && X.prefix[0] != X86_PREFIX_REPNE)
    Out.Traits |= StepsBases;
}

} // namespace linemate::x86
