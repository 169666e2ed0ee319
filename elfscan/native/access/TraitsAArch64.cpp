//===- TraitsAArch64.cpp - aarch64 instructions for queries ---------------===//
//
// Owns the traits of aarch64 instructions and what they do to bits (Op.h), and
// what code may hold that is not decoded.
//
//===----------------------------------------------------------------------===//

#include "A64Registers.h"

namespace linemate {

/// A bit that is chosen by number, or a word of bits that others join.
static void addBits(const cs_insn &Insn, const MemoryForm &F, Op &Out) {
  const cs_arm64 &A = Insn.detail->arm64;
  auto Reg = [&A](unsigned I) {
    return I < A.op_count ? info(A.operands[I]).Number : NoReg;
  };
  auto IsNumber = [&A](unsigned I) {
    return I < A.op_count && A.operands[I].type == ARM64_OP_IMM;
  };
  if (F.Kind == Access::Rmw) { // of two that are named the first is combined
    bool Sets = F.IsCompare || F.IsExclusive || F.IsBits;
    Out.Bits = Sets ? BitWork::Combines : BitWork::None;
    Out.BitsFrom = F.IsCompare ? Reg(F.Elements) : Reg(F.FirstMoved);
    return;
  }
  switch (Insn.id) {
  case ARM64_INS_LSL:
  case ARM64_INS_LSLV:
    if (!isFollowed(Reg(2)))
      return;
    Out.Bits = BitWork::Shifts;
    Out.BitsFrom = Reg(1);
    break;
  case ARM64_INS_ORR:
  case ARM64_INS_AND:
  case ARM64_INS_EOR:
  case ARM64_INS_BIC:
  case ARM64_INS_ORN:
  case ARM64_INS_EON:
  case ARM64_INS_MVN:
    Out.Bits = BitWork::Combines;
    Out.BitsFrom = Reg(1);
    Out.BitsFrom2 = Insn.id == ARM64_INS_MVN || IsNumber(2) ? Reg(1) : Reg(2);
    break;
  default:
    return;
  }
  Out.BitsTo = Reg(0);
}

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
  addBits(Insn, F, Out);
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

namespace {

template <typename Callable>
bool anyWord(std::span<const uint8_t> Code, Callable &&Is) {
  uint32_t Word;
  for (size_t I = 0; I + sizeof Word <= Code.size(); I += sizeof Word) {
    std::memcpy(&Word, Code.data() + I, sizeof Word);
    if (Is(Word, I))
      return true;
  }
  return false;
}

/// Bits [From, From + Count) of \p Word as a signed number.
int64_t signedBits(uint32_t Word, unsigned From, unsigned Count) {
  return int32_t(Word << (32 - From - Count)) >> (32 - Count);
}

} // namespace

/// mrs of tpidr_el0, whatever the register.
bool a64::namesThread(std::span<const uint8_t> Code) {
  constexpr uint32_t Mrs = 0xd53bd040, Register = 0x1f;
  return anyWord(
      Code, [](uint32_t Word, size_t) { return (Word & ~Register) == Mrs; });
}

/// b, bl, adr and adrp.
bool a64::namesAddress(std::span<const uint8_t> Code, uint64_t Begin,
                       const WantedAddresses &Wanted) {
  constexpr uint32_t Branch = 0x14000000, AnyLink = 0x7c000000;
  constexpr uint32_t Adr = 0x10000000, AnyRegister = 0x1f000000;
  constexpr uint32_t Pages = 0x80000000;
  constexpr uint64_t Page = 4096;
  return anyWord(Code, [&](uint32_t Word, size_t At) {
    uint64_t Ip = Begin + At;
    if ((Word & AnyLink) == Branch)
      return Wanted(Ip + signedBits(Word, 0, 26) * 4, Naming::Whole);
    if ((Word & AnyRegister) != Adr)
      return false;
    int64_t Distance = signedBits(Word, 5, 19) * 4 + (Word >> 29 & 3);
    return Word & Pages
               ? Wanted((Ip & ~(Page - 1)) + Distance * Page, Naming::Page)
               : Wanted(Ip + Distance, Naming::Whole);
  });
}

} // namespace linemate
