//===- DecodeAArch64.cpp - aarch64 instructions as Ops --------------------===//
//
// Owns the translation from capstone's arm64 operands.  Access kinds and
// sizes come from the mnemonic (MemoryForm.h), because capstone 5 states none
// for atomics and wrong ones for some vector and pair forms.
//
//===----------------------------------------------------------------------===//

#include "A64Registers.h"
#include "Architectures.h"
#include "Conditions.h"
#include "Decoder.h"
#include "MemoryForm.h"

#include <array>
#include <capstone/capstone.h>
#include <cstring>

namespace linemate {

namespace {

constexpr int8_t Arguments[] = {0, 1, 2, 3, 4, 5, 6, 7};
constexpr int8_t LinkReg = 30;
constexpr uint32_t CallerSaved = 0x7ffff | bit(LinkReg);
constexpr Convention Aapcs = {
    .Registers = 32,
    .StackPointer = A64Sp,
    .CallerSaved = CallerSaved,
    .Result = bit(0),
    .Results = bit(0) | bit(1),
    .Arguments = Arguments,
};

/// cmd/compile/abi-internal.md: x28 is the goroutine, x26 a closure's data, and
/// no call keeps anything but the stack and frame pointers and x28.
constexpr int8_t GoArguments[] = {0, 1, 2,  3,  4,  5,  6,  7,
                                  8, 9, 10, 11, 12, 13, 14, 15};
constexpr Convention GoInternal = {
    .Registers = 32,
    .StackPointer = A64Sp,
    .CallerSaved = ~(bit(A64Sp) | bit(28) | bit(29)),
    .Result = bit(0),
    .Results = 0xffff,
    .Arguments = GoArguments,
    .FunctionsByWord = true,
};

constexpr const auto &Registers = A64Registers;

unsigned vectorBytes(arm64_vas Arrangement, bool Element) {
  switch (Arrangement) {
  case ARM64_VAS_16B:
    return Element ? 1 : 16;
  case ARM64_VAS_8B:
    return Element ? 1 : 8;
  case ARM64_VAS_4B:
    return Element ? 1 : 4;
  case ARM64_VAS_1B:
    return 1;
  case ARM64_VAS_8H:
    return Element ? 2 : 16;
  case ARM64_VAS_4H:
    return Element ? 2 : 8;
  case ARM64_VAS_2H:
    return Element ? 2 : 4;
  case ARM64_VAS_1H:
    return 2;
  case ARM64_VAS_4S:
    return Element ? 4 : 16;
  case ARM64_VAS_2S:
    return Element ? 4 : 8;
  case ARM64_VAS_1S:
    return 4;
  case ARM64_VAS_2D:
    return Element ? 8 : 16;
  case ARM64_VAS_1D:
    return 8;
  default:
    return 16;
  }
}

class AArch64Decoder final : public Decoder {
public:
  explicit AArch64Decoder(csh H)
      : Handle(H), Insn(cs_malloc(H)), Forms(ARM64_INS_ENDING) {}
  ~AArch64Decoder() override {
    cs_free(Insn, 1);
    cs_close(&Handle);
  }
  bool decode(std::span<const uint8_t> Code, uint64_t Ip, Op &Out) override;
  unsigned step() const override { return 4; }
  const Convention &convention() const override { return Aapcs; }

private:
  struct CachedForm {
    bool Known = false;
    MemoryForm Form;
  };

  csh Handle;
  cs_insn *Insn;
  std::vector<CachedForm> Forms; ///< by instruction number

  const MemoryForm &form() {
    CachedForm &C = Forms[Insn->id];
    if (!C.Known)
      C = {true, memoryForm(Insn->mnemonic)};
    return C.Form;
  }
  void memory(const MemoryForm &F, Op &Out);
  void transferred(const MemoryForm &F, Op &Out);
  void computation(Op &Out);
  bool control(Op &Out);
};

int8_t addressReg(arm64_reg Reg) {
  if (Reg == ARM64_REG_INVALID)
    return NoReg;
  int8_t Number = Reg < Registers.size() ? Registers[Reg].Number : OtherReg;
  return Number == NoReg ? OtherReg : Number;
}

bool extendsNarrow(arm64_extender E) {
  return E == ARM64_EXT_UXTB || E == ARM64_EXT_UXTH || E == ARM64_EXT_SXTB ||
         E == ARM64_EXT_SXTH;
}

bool extendsSigned(arm64_extender E) {
  return E == ARM64_EXT_SXTB || E == ARM64_EXT_SXTH || E == ARM64_EXT_SXTW;
}

void result(Op &Out, A64Reg Dst, Transfer How) {
  Out.Dst = Dst.Number;
  Out.Width = Dst.Width;
  Out.How = How;
  Out.Clobbers &= ~bit(Dst.Number);
}

} // namespace

/// The bytes that a load or store names, and how its base moves.
void AArch64Decoder::memory(const MemoryForm &F, Op &Out) {
  const cs_arm64 &A = Insn->detail->arm64;
  MemOperand &M = Out.Mem[0];
  unsigned At = A.op_count;
  unsigned Bytes = 0, Moved = 0;
  for (unsigned I = F.FirstMoved; I < A.op_count; ++I) {
    const cs_arm64_op &Operand = A.operands[I];
    if (Operand.type != ARM64_OP_REG) {
      At = I;
      break;
    }
    bool Element = F.IsVector && (Operand.vector_index >= 0 || F.Replicates);
    unsigned Each = F.IsVector ? vectorBytes(Operand.vas, Element)
                               : Registers[Operand.reg].Width;
    if (F.Replicates && Moved >= F.Elements)
      continue;
    Bytes += Each;
    ++Moved;
  }
  if (At == A.op_count)
    return;
  const cs_arm64_op &Where = A.operands[At];
  if (F.UnitBytes)
    Bytes = F.UnitBytes * F.Elements;
  else if (!F.IsVector && Moved > F.Elements)
    Bytes = Bytes / Moved * F.Elements;
  M.Size = Bytes;
  M.Kind = F.Kind;
  if (F.IsAtomic)
    M.Flags |= MemAtomic;
  if (F.IsExclusive)
    M.Flags |= MemExclusive;
  if (F.IsSigned)
    M.Flags |= MemSigned;
  if (Where.type == ARM64_OP_IMM) {
    // A literal: the operand is the address.
    M.Flags |= MemPcRelative;
    M.Disp = Where.imm;
    Out.MemCount = 1;
    return;
  }
  if (Where.type != ARM64_OP_MEM)
    return;
  Out.MemCount = 1;
  M.Base = addressReg(Where.mem.base);
  M.Index = addressReg(Where.mem.index);
  M.Shift = Where.shift.type == ARM64_SFT_LSL ? Where.shift.value : 0;
  M.Disp = Where.mem.disp;
  if (M.Index != NoReg &&
      (Where.ext != ARM64_EXT_INVALID || info(Where.mem.index).Width != 8))
    M.Flags |= MemNarrow;
  if (!A.writeback)
    return;
  Out.Written = M.Base;
  Out.Step = Where.mem.disp;
  if (!A.post_index)
    return;
  Out.Step = 0;
  if (At + 1 < A.op_count && A.operands[At + 1].type == ARM64_OP_IMM)
    Out.Step = int32_t(A.operands[At + 1].imm);
  M.Index = NoReg;
  M.Flags &= ~MemNarrow;
  M.Disp = 0;
}

/// What a load puts into registers and a store takes from them.
void AArch64Decoder::transferred(const MemoryForm &F, Op &Out) {
  const cs_arm64 &A = Insn->detail->arm64;
  auto Reg = [&A](unsigned I) {
    return I < A.op_count ? info(A.operands[I]) : A64Reg();
  };
  for (unsigned I = 0; I < F.FirstMoved; ++I)
    Out.Clobbers |= bit(Reg(I).Number); // the status of a store exclusive
  A64Reg First = Reg(F.FirstMoved), Next = Reg(F.FirstMoved + 1);
  switch (F.Kind) {
  case Access::Load:
    Out.Clobbers |= bit(First.Number);
    if (F.Elements == 2)
      Out.Clobbers |= bit(Next.Number);
    if (!isFollowed(First.Number) || F.IsVector)
      return;
    result(Out, First, Transfer::Load);
    if (F.Elements == 2) {
      Out.Second = Next.Number;
      Out.Clobbers &= ~bit(Next.Number);
    }
    return;
  case Access::Rmw:
    if (!F.IsExclusive) {
      // ldadd Rs, Rt: Rt receives; cas Rs, Rt: Rs does.
      for (unsigned I = 0; I < A.op_count; ++I)
        if (A.operands[I].type == ARM64_OP_REG)
          Out.Clobbers |= bit(Reg(I).Number);
      Out.Stored = F.IsCompare ? Reg(F.Elements).Number : First.Number;
      return;
    }
    [[fallthrough]];
  case Access::Store:
    if (!F.IsVector)
      Out.StoredAny = First.Number;
    if (First.Width == 8 && !F.UnitBytes)
      Out.Stored = First.Number;
    if (F.Elements == 2 && First.Width == 8)
      Out.Stored2 = Next.Number;
    return;
  default:
    return;
  }
}

void AArch64Decoder::computation(Op &Out) {
  const cs_arm64 &A = Insn->detail->arm64;
  A64Reg Dst = A.op_count ? info(A.operands[0]) : A64Reg();
  if (!isFollowed(Dst.Number))
    return;
  switch (Insn->id) {
  case ARM64_INS_CMP:
    if (const cs_arm64_op &To = A.operands[1];
        To.type == ARM64_OP_IMM && !To.shift.value && !(To.imm >> 8))
      Out.Tested = Dst.Number;
    Out.Against = uint8_t(A.operands[1].imm);
    return;
  case ARM64_INS_CMN:
    Out.AgainstNegative = isPositive(A.operands[1]);
    return;
  case ARM64_INS_TST:
  case ARM64_INS_CCMP:
  case ARM64_INS_CCMN:
  case ARM64_INS_MSR:
  case ARM64_INS_DC:
  case ARM64_INS_IC:
  case ARM64_INS_TLBI:
    return;
  default:
    Out.Clobbers |= bit(Dst.Number);
  }
  A64Reg Src = A.op_count > 1 ? info(A.operands[1]) : A64Reg();
  const cs_arm64_op *Third = A.op_count > 2 ? &A.operands[2] : nullptr;
  A64Reg Right = Third ? info(*Third) : A64Reg();
  Out.Src = Src.Number;
  auto Immediate = [&A](unsigned I) {
    return I < A.op_count && A.operands[I].type == ARM64_OP_IMM;
  };
  switch (Insn->id) {
  case ARM64_INS_MRS:
    if (A.op_count > 1 &&
        systemRegister(A.operands[1]) == ARM64_SYSREG_TPIDR_EL0) {
      Out.Src = ThreadReg;
      result(Out, Dst, Transfer::Move);
    }
    return;
  case ARM64_INS_MOV:
  case ARM64_INS_MOVZ:
  case ARM64_INS_MOVN:
    if (Immediate(1)) {
      uint64_t N = uint64_t(A.operands[1].imm) << A.operands[1].shift.value;
      if (Insn->id == ARM64_INS_MOVN)
        N = ~N;
      Out.Imm = Dst.Width == 8 ? int64_t(N) : int64_t(uint32_t(N));
      Out.ImmIsValue = true;
      result(Out, Dst, Transfer::Constant);
    } else if (isFollowed(Src.Number) || Src.Number == ZeroReg) {
      Out.OfHalf = Src.Width == 4;
      result(Out, Dst, Src.Width == 8 ? Transfer::Move : Transfer::Extend);
    }
    return;
  case ARM64_INS_MOVK:
    Out.Imm = A.operands[1].imm;
    Out.Shift = uint8_t(A.operands[1].shift.value);
    result(Out, Dst, Transfer::Insert);
    return;
  case ARM64_INS_ADR:
  case ARM64_INS_ADRP:
    Out.Imm = A.operands[1].imm;
    result(Out, Dst,
           Insn->id == ARM64_INS_ADR ? Transfer::Address : Transfer::Page);
    return;
  case ARM64_INS_ADD:
  case ARM64_INS_ADDS:
  case ARM64_INS_SUB:
  case ARM64_INS_SUBS: {
    bool IsSub = Insn->id == ARM64_INS_SUB || Insn->id == ARM64_INS_SUBS;
    if (Immediate(2)) {
      Out.Imm = Third->imm << Third->shift.value;
      Out.Imm = IsSub ? -Out.Imm : Out.Imm;
      result(Out, Dst, Transfer::Add);
    } else if (Right.Number != NoReg && (Third->shift.value == 0 ||
                                         Third->shift.type == ARM64_SFT_LSL)) {
      Out.Src2 = Right.Number;
      Out.Narrow = extendsNarrow(Third->ext);
      Out.Shift = uint8_t(Third->shift.value);
      Out.Imm = extendsSigned(Third->ext) ? -1 : 0;
      result(Out, Dst, IsSub ? Transfer::Sub : Transfer::Add);
    }
    return;
  }
  case ARM64_INS_LSL:
  case ARM64_INS_UBFIZ:
  case ARM64_INS_SBFIZ:
    if (Immediate(2) && Third->imm >= 0 && Third->imm < 32) {
      Out.Imm = int64_t(1) << Third->imm;
      result(Out, Dst, Transfer::Scale);
    }
    return;
  case ARM64_INS_LSR:
  case ARM64_INS_ASR:
  case ARM64_INS_UBFX:
  case ARM64_INS_SBFX:
    result(Out, Dst, Transfer::Part);
    return;
  case ARM64_INS_SXTW:
  case ARM64_INS_UXTW:
    Out.OfHalf = true;
    result(Out, Dst, Transfer::Extend);
    return;
  case ARM64_INS_MUL:
  case ARM64_INS_MADD:
  case ARM64_INS_SMADDL:
  case ARM64_INS_UMADDL:
  case ARM64_INS_SMULL:
  case ARM64_INS_UMULL:
    Out.Factor = Right.Number;
    Out.Src2 = A.op_count > 3 ? info(A.operands[3]).Number : NoReg;
    result(Out, Dst, Transfer::Product);
    return;
  case ARM64_INS_CSEL:
    if (Dst.Width == 8 && Right.Number != NoReg) {
      Out.Src2 = Right.Number;
      result(Out, Dst, Transfer::Select);
    }
    return;
  case ARM64_INS_AND:
    if (Immediate(2)) {
      Out.Imm = Third->imm;
      result(Out, Dst, Transfer::Align);
    }
    return;
  default:
    return;
  }
}

bool AArch64Decoder::control(Op &Out) {
  const cs_arm64 &A = Insn->detail->arm64;
  const cs_arm64_op *Last = A.op_count ? &A.operands[A.op_count - 1] : nullptr;
  int64_t Target = Last && Last->type == ARM64_OP_IMM ? Last->imm : 0;
  switch (Insn->id) {
  case ARM64_INS_B:
    Out.Next =
        A.cc == ARM64_CC_INVALID || A.cc == ARM64_CC_AL || A.cc == ARM64_CC_NV
            ? Flow::Jump
            : Flow::Branch;
    Out.Imm = Target;
    if (A.cc == ARM64_CC_EQ)
      Out.Zero = OnZero::Branches;
    else if (A.cc == ARM64_CC_NE)
      Out.Zero = OnZero::Continues;
    Out.Sign = signOf(A.cc);
    return true;
  case ARM64_INS_CBZ:
  case ARM64_INS_CBNZ:
  case ARM64_INS_TBZ:
  case ARM64_INS_TBNZ:
    Out.Next = Flow::Branch;
    Out.Imm = Target;
    if (testsWhole(A)) {
      Out.Tested = info(A.operands[0]).Number;
      Out.Zero = Insn->id == ARM64_INS_CBZ || Insn->id == ARM64_INS_TBZ
                     ? OnZero::Branches
                     : OnZero::Continues;
    } else if (isSignBit(A.operands[1].imm, info(A.operands[0]).Width)) {
      Out.TestsItself = true;
      Out.Sign =
          Insn->id == ARM64_INS_TBNZ ? OnSign::Negative : OnSign::NotNegative;
    }
    return true;
  case ARM64_INS_BL:
    Out.Next = Flow::Call;
    Out.Imm = Target;
    return true;
  case ARM64_INS_BLR:
  case ARM64_INS_BLRAA:
  case ARM64_INS_BLRAAZ:
  case ARM64_INS_BLRAB:
  case ARM64_INS_BLRABZ:
    Out.Next = Flow::IndirectCall;
    Out.Src = info(A.operands[0]).Number;
    return true;
  case ARM64_INS_BR:
  case ARM64_INS_BRAA:
  case ARM64_INS_BRAAZ:
  case ARM64_INS_BRAB:
  case ARM64_INS_BRABZ:
    Out.Next = Flow::IndirectJump;
    Out.Src = info(A.operands[0]).Number;
    return true;
  case ARM64_INS_RET:
  case ARM64_INS_RETAA:
  case ARM64_INS_RETAB:
  case ARM64_INS_ERET:
    Out.Next = Flow::Return;
    return true;
  case ARM64_INS_UDF:
    Out.Next = Flow::Stop;
    return true;
  default:
    return false;
  }
}

bool AArch64Decoder::decode(std::span<const uint8_t> Code, uint64_t Ip,
                            Op &Out) {
  const uint8_t *Bytes = Code.data();
  size_t Left = Code.size();
  uint64_t At = Ip;
  if (!cs_disasm_iter(Handle, &Bytes, &Left, &At, Insn) ||
      Insn->id >= Forms.size())
    return false;
  Out = Op();
  Out.Ip = Ip;
  Out.Length = Insn->size;
  const MemoryForm &F = form();
  if (control(Out)) {
    // Neither reads nor writes what is followed.
  } else if (F.Kind == Access::None) {
    computation(Out);
  } else {
    memory(F, Out);
    if (Out.MemCount)
      transferred(F, Out);
  }
  a64::addTraits(*Insn, F, Out);
  return true;
}

static std::unique_ptr<Decoder> makeDecoder() {
  csh Handle;
  if (cs_open(CS_ARCH_ARM64, CS_MODE_ARM, &Handle) != CS_ERR_OK)
    return nullptr;
  cs_option(Handle, CS_OPT_DETAIL, CS_OPT_ON);
  return std::make_unique<AArch64Decoder>(Handle);
}

extern const Architecture AArch64Row;
const Architecture AArch64Row = {
    .Number = Arch::AArch64,
    .Name = "aarch64",
    .Make = makeDecoder,
    .Library = CS_ARCH_ARM64,
    .LibraryMode = CS_MODE_ARM,
    .MakeNormaliser = a64::makeNormaliser,
    .Go = &GoInternal,
    .NamesThread = a64::namesThread,
    .NamesAddress = a64::namesAddress,
};

} // namespace linemate
