//===- DecodeX86.cpp - x86-64 instructions as Ops -------------------------===//
//
// Owns the translation from capstone's x86 detail, including the corrections
// where capstone's access information is missing or wrong.  Each correction
// has its row in tests/access/test_access_decode.py.
//
//===----------------------------------------------------------------------===//

#include "CachedDecoder.h"
#include "Conditions.h"
#include "Decoder.h"
#include "X86Registers.h"
#include "X86Tables.h"
#include "X86Tests.h"
#include "X86Vectors.h"

#include <bit>
#include <capstone/capstone.h>

namespace linemate {

namespace {

constexpr int8_t Arguments[] = {7, 6, 2, 1, 8, 9};
/// perf's order begins ax, bx, cx, dx, si, di, bp, sp; r8 is 16.
constexpr int8_t PerfNumbers[] = {0,  2,  3,  1,  7,  6,  4,  5,
                                  16, 17, 18, 19, 20, 21, 22, 23};
constexpr uint32_t CallerSaved =
    bit(0) | bit(1) | bit(2) | bit(6) | bit(7) | 0xf00;
constexpr Convention SysV = {
    .Registers = 16,
    .StackPointer = X86Rsp,
    .CallerSaved = CallerSaved,
    .Result = bit(0),
    .Results = bit(0) | bit(2),
    .Arguments = Arguments,
    .PerfNumbers = PerfNumbers,
};

constexpr int8_t GoArguments[] = {0, 3, 1, 7, 6, 8, 9, 10, 11};

constexpr const auto &Registers = X86Registers;

class X86Decoder final : public Decoder {
public:
  explicit X86Decoder(csh H) : Handle(H), Insn(cs_malloc(H)) {}
  ~X86Decoder() override {
    cs_free(Insn, 1);
    cs_close(&Handle);
  }
  bool decode(std::span<const uint8_t> Code, uint64_t Ip, Op &Out) override;
  unsigned step() const override { return 1; }
  const Convention &convention() const override { return SysV; }

private:
  csh Handle;
  cs_insn *Insn;

  void memory(const cs_x86 &X, const cs_x86_op &Operand, Access Kind, Op &Out);
  void operands(const cs_x86 &X, X86Class C, Op &Out);
  void moved(const cs_x86 &X, Op &Out);
  void stepped(const cs_x86 &X, X86Class C, Op &Out);
  void arithmetic(const cs_x86 &X, X86Class C, Op &Out);
  void stack(const cs_x86 &X, X86Class C, Op &Out);
  void control(const cs_x86 &X, X86Class C, Op &Out);
};

GeneralReg general(const cs_x86_op &Operand) {
  return Operand.type == X86_OP_REG ? Registers[Operand.reg] : GeneralReg();
}

int8_t addressReg(x86_reg Reg, bool Narrow) {
  if (Reg == X86_REG_INVALID || Reg == X86_REG_RIZ || Reg == X86_REG_EIZ)
    return NoReg;
  GeneralReg R = Registers[Reg];
  return R.Width == 8 && !Narrow ? R.Number : OtherReg;
}

/// Sets the destination register with \p How, or clobbers it where a narrow
/// write leaves old bits.
void result(Op &Out, GeneralReg Dst, Transfer How) {
  if (Dst.Width < 4) {
    Out.Clobbers |= bit(Dst.Number);
    return;
  }
  Out.Dst = Dst.Number;
  Out.Width = Dst.Width;
  Out.How = How;
  Out.Clobbers &= ~bit(Dst.Number);
}

} // namespace

void X86Decoder::memory(const cs_x86 &X, const cs_x86_op &Operand, Access Kind,
                        Op &Out) {
  if (Out.MemCount == 2)
    return;
  MemOperand &M = Out.Mem[Out.MemCount++];
  M = MemOperand();
  M.Kind = Kind;
  M.Size = Operand.size;
  M.Disp = Operand.mem.disp;
  if (Operand.mem.segment == X86_REG_FS)
    M.Flags |= MemSegment;
  if (Operand.mem.segment == X86_REG_GS)
    M.Flags |= MemSegment | MemOtherBase;
  if (Operand.mem.base == X86_REG_RIP || Operand.mem.base == X86_REG_EIP) {
    M.Flags |= MemPcRelative;
    M.Disp += int64_t(Out.end());
  } else {
    M.Base = addressReg(Operand.mem.base, X.addr_size == 4);
  }
  M.Index = addressReg(Operand.mem.index, X.addr_size == 4);
  M.Shift =
      M.Index == NoReg ? 0 : std::countr_zero(unsigned(Operand.mem.scale));
  if (X.prefix[0] == X86_PREFIX_LOCK) {
    M.Flags |= MemAtomic;
    M.Kind = Access::Rmw;
  }
}

/// The general case.  capstone's own access bits are wrong for many
/// instructions (movups, setcc, cmpxchg, fistp): where an operand stands and
/// what the instruction is decide instead.
void X86Decoder::operands(const cs_x86 &X, X86Class C, Op &Out) {
  X86First First =
      Insn->id < X86Firsts.size() ? X86Firsts[Insn->id] : X86First::ByOperands;
  if (First == X86First::ByOperands)
    First = X.op_count >= 2 ? X86First::Written : X86First::Read;
  if (Insn->id == X86_INS_IMUL && X.op_count > 1)
    First = X86First::Written;
  for (unsigned I = 0; I < X.op_count; ++I) {
    const cs_x86_op &Operand = X.operands[I];
    if (Operand.type == X86_OP_REG) {
      if (Operand.access & CS_AC_WRITE || (I == 0 && First != X86First::Read))
        Out.Clobbers |= bit(Registers[Operand.reg].Number);
      continue;
    }
    if (Operand.type != X86_OP_MEM || C == X86Class::NoAccess ||
        C == X86Class::Lea)
      continue;
    Access Kind = Access::Load;
    if (I == 0 && First == X86First::Written)
      Kind = Access::Store;
    else if (I == 0 && First == X86First::Changed)
      Kind = Access::Rmw;
    memory(X, Operand, Kind, Out);
  }
  const cs_detail *Detail = Insn->detail;
  for (unsigned I = 0; I < Detail->regs_write_count; ++I)
    Out.Clobbers |= bit(Registers[Detail->regs_write[I]].Number);
}

void X86Decoder::moved(const cs_x86 &X, Op &Out) {
  const cs_x86_op &To = X.operands[0], &From = X.operands[1];
  GeneralReg Dst = general(To), Src = general(From);
  if (Dst.Number != NoReg) {
    if (From.type == X86_OP_IMM) {
      result(Out, Dst, Transfer::Constant);
      Out.Imm = Dst.Width == 8 ? From.imm : int64_t(uint32_t(From.imm));
      Out.ImmIsValue = Dst.Width >= 4;
      Out.NarrowTo = Dst.Width < 4 ? Dst.Number : NoReg;
    } else if (From.type == X86_OP_MEM) {
      result(Out, Dst, Transfer::Load);
    } else if (Src.Number != NoReg) {
      Out.Src = Src.Number;
      Out.OfHalf = Src.Width == 4;
      result(Out, Dst, Src.Width == 8 ? Transfer::Move : Transfer::Extend);
    }
    return;
  }
  if (To.type != X86_OP_MEM)
    return;
  Out.StoredAny = From.type == X86_OP_IMM ? ImmReg : Src.Number;
  if (From.type == X86_OP_IMM) {
    Out.Stored = ImmReg;
    Out.Imm = From.imm;
    Out.ImmIsValue = To.size == 8;
  } else if (Src.Width == 8) {
    Out.Stored = Src.Number;
  }
}

/// A pointer that is moved where it lies, as in code without optimisation.
void X86Decoder::stepped(const cs_x86 &X, X86Class C, Op &Out) {
  if (X.operands[0].size != 8)
    return;
  bool Immediate = X.op_count > 1 && X.operands[1].type == X86_OP_IMM;
  if (C == X86Class::Increment || C == X86Class::Decrement)
    Out.Imm = C == X86Class::Increment ? 1 : -1;
  else if (Immediate && (C == X86Class::Add || C == X86Class::Sub))
    Out.Imm = C == X86Class::Add ? X.operands[1].imm : -X.operands[1].imm;
  else
    return;
  Out.Stored = StepReg;
}

void X86Decoder::arithmetic(const cs_x86 &X, X86Class C, Op &Out) {
  GeneralReg Dst = general(X.operands[0]);
  if (X.operands[0].type == X86_OP_MEM)
    return stepped(X, C, Out);
  if (C == X86Class::ShiftRight) {
    // Of any width: nothing is known of the result but whose it is.
    Out.Src = Dst.Number;
    return result(Out, {Dst.Number, 8}, Transfer::Part);
  }
  if (Dst.Width < 4)
    return;
  const cs_x86_op *Right = X.op_count > 1 ? &X.operands[1] : nullptr;
  GeneralReg Src = Right ? general(*Right) : GeneralReg();
  bool Immediate = Right && Right->type == X86_OP_IMM;
  switch (C) {
  case X86Class::Add:
  case X86Class::Sub:
    if (Immediate) {
      Out.Src = Dst.Number;
      Out.Imm = C == X86Class::Add ? Right->imm : -Right->imm;
      Out.ImmIsValue = Dst.Width == 8 && C == X86Class::Add;
      result(Out, Dst, Transfer::Add);
    } else if (Src.Number != NoReg) {
      Out.Src = Dst.Number;
      Out.Src2 = Src.Number;
      if (C == X86Class::Sub && Src.Number == Dst.Number)
        result(Out, Dst, Transfer::Constant);
      else
        result(Out, Dst, C == X86Class::Add ? Transfer::Add : Transfer::Sub);
    } else if (C == X86Class::Add) {
      Out.Src = Dst.Number;
      result(Out, Dst, Transfer::AddLoad);
    }
    return;
  case X86Class::Increment:
  case X86Class::Decrement:
    Out.Src = Dst.Number;
    Out.Imm = C == X86Class::Increment ? 1 : -1;
    result(Out, Dst, Transfer::Add);
    return;
  case X86Class::ShiftLeft:
    if (!Right || (Immediate && Right->imm >= 0 && Right->imm < 32)) {
      Out.Src = Dst.Number;
      Out.Imm = int64_t(1) << (Right ? Right->imm : 1);
      result(Out, Dst, Transfer::Scale);
    }
    return;
  case X86Class::Multiply:
    if (X.op_count == 3 && X.operands[2].type == X86_OP_IMM) {
      bool IsLoad = Right->type == X86_OP_MEM;
      Out.Src = Src.Number == NoReg && !IsLoad ? OtherReg : Src.Number;
      Out.Imm = X.operands[2].imm;
      result(Out, Dst, IsLoad ? Transfer::ScaleLoad : Transfer::Scale);
    }
    return;
  case X86Class::Xor:
    if (Src.Number == Dst.Number && Src.Width == Dst.Width)
      result(Out, Dst, Transfer::Constant);
    return;
  case X86Class::And:
    if (Immediate && (Right->imm >= 0 || Dst.Width == 8)) {
      Out.Src = Dst.Number;
      Out.Imm = Right->imm;
      result(Out, Dst, Transfer::Align);
    }
    return;
  case X86Class::Extend:
    if (Right->type == X86_OP_MEM) {
      if (Insn->id != X86_INS_MOVZX)
        Out.Mem[0].Flags |= MemSigned;
      result(Out, Dst, Transfer::Load);
    } else {
      Out.Src = Src.Number;
      Out.OfHalf = Src.Width == 4;
      result(Out, Dst, Transfer::Extend);
    }
    return;
  case X86Class::Select:
    if (Dst.Width == 8) {
      Out.Src = Dst.Number;
      Out.Src2 = Src.Number;
      result(Out, Dst, Transfer::Select);
    }
    return;
  default:
    return;
  }
}

void X86Decoder::stack(const cs_x86 &X, X86Class C, Op &Out) {
  Out.Clobbers &= ~bit(X86Rsp);
  if (C == X86Class::Leave) {
    // rsp = rbp + 8; the caller's rbp, which it loads, is not followed.
    Out.MemCount = 2;
    Out.Mem[0] = Out.Mem[1] = MemOperand();
    Out.Mem[0].Base = Out.Mem[1].Base = 5;
    Out.Mem[0].Disp = 8;
    Out.Mem[1].Kind = Access::Load;
    Out.Mem[1].Size = 8;
    Out.Mem[1].Flags = MemImplicit;
    Out.Clobbers |= bit(5);
    Out.How = Transfer::Lea;
    Out.Dst = X86Rsp;
    return;
  }
  MemOperand Top;
  Top.Base = X86Rsp;
  Top.Flags = MemImplicit;
  Top.Size = X.operands[0].size == 2 ? 2 : 8;
  Out.Written = X86Rsp;
  Out.Step = C == X86Class::Push ? -int32_t(Top.Size) : int32_t(Top.Size);
  Top.Disp = C == X86Class::Push ? Out.Step : 0;
  Top.Kind = C == X86Class::Push ? Access::Store : Access::Load;
  GeneralReg R = general(X.operands[0]);
  if (C == X86Class::Push) {
    if (R.Width == 8)
      Out.Stored = R.Number;
    if (X.operands[0].type == X86_OP_IMM) {
      Out.Stored = ImmReg;
      Out.Imm = X.operands[0].imm;
      Out.ImmIsValue = true;
    }
    Out.StoredTo = Out.MemCount;
    Out.Mem[Out.MemCount++] = Top;
    return;
  }
  Out.Mem[Out.MemCount++] = Top;
  if (R.Width == 8)
    result(Out, R, Transfer::Load);
}

void X86Decoder::control(const cs_x86 &X, X86Class C, Op &Out) {
  const cs_x86_op *Target = X.op_count ? &X.operands[0] : nullptr;
  switch (C) {
  case X86Class::Call:
  case X86Class::Jump: {
    Out.Clobbers &= ~bit(X86Rsp);
    bool IsCall = C == X86Class::Call;
    if (Target && Target->type == X86_OP_IMM) {
      Out.Next = IsCall ? Flow::Call : Flow::Jump;
      Out.Imm = Target->imm;
      return;
    }
    Out.Next = IsCall ? Flow::IndirectCall : Flow::IndirectJump;
    if (Target)
      Out.Src = general(*Target).Number;
    return;
  }
  case X86Class::Branch:
    Out.Next = Flow::Branch;
    Out.Imm = Target && Target->type == X86_OP_IMM ? Target->imm : 0;
    if (Insn->id == X86_INS_JE)
      Out.Zero = OnZero::Branches;
    else if (Insn->id == X86_INS_JNE)
      Out.Zero = OnZero::Continues;
    Out.Sign = signOf(x86_insn(Insn->id));
    addOrder(x86_insn(Insn->id), Out);
    return;
  case X86Class::Return:
    Out.Next = Flow::Return;
    return;
  default:
    Out.Next = Flow::Stop;
    return;
  }
}

bool X86Decoder::decode(std::span<const uint8_t> Code, uint64_t Ip, Op &Out) {
  const uint8_t *Bytes = Code.data();
  size_t Left = Code.size();
  uint64_t At = Ip;
  if (!cs_disasm_iter(Handle, &Bytes, &Left, &At, Insn))
    return false;
  const cs_x86 &X = Insn->detail->x86;
  X86Class C =
      Insn->id < X86Classes.size() ? X86Classes[Insn->id] : X86Class::Other;
  // SSE and string instructions share these two names.
  if ((Insn->id == X86_INS_MOVSD || Insn->id == X86_INS_CMPSD) &&
      X.op_count == 2 && X.operands[0].type == X86_OP_MEM &&
      X.operands[1].type == X86_OP_MEM)
    C = X86Class::String;
  Out = Op();
  Out.Ip = Ip;
  Out.Length = Insn->size;
  operands(X, C, Out);
  if (Insn->id == X86_INS_CMP || Insn->id == X86_INS_TEST)
    x86::addTest(*Insn, Out);
  switch (C) {
  case X86Class::Mov:
    moved(X, Out);
    break;
  case X86Class::Lea:
    memory(X, X.operands[1], Access::None, Out);
    result(Out, general(X.operands[0]), Transfer::Lea);
    break;
  case X86Class::Add:
  case X86Class::Sub:
  case X86Class::Increment:
  case X86Class::Decrement:
  case X86Class::ShiftLeft:
  case X86Class::ShiftRight:
  case X86Class::Multiply:
  case X86Class::Xor:
  case X86Class::And:
  case X86Class::Extend:
  case X86Class::Select:
    arithmetic(X, C, Out);
    break;
  case X86Class::Compare:
    if (X.operands[1].type == X86_OP_IMM && X.operands[0].size == 8) {
      Out.Imm = X.operands[1].imm;
      Out.ImmIsValue = true;
    }
    break;
  case X86Class::SignExtendAcc:
    Out.Src = 0;
    result(Out, {0, 8}, Transfer::Extend);
    break;
  case X86Class::Push:
  case X86Class::Pop:
  case X86Class::Leave:
    stack(X, C, Out);
    break;
  case X86Class::Exchange:
  case X86Class::ExchangeAdd:
    if (Out.MemCount) {
      Out.Mem[0].Kind = Access::Rmw;
      if (C == X86Class::Exchange)
        Out.Mem[0].Flags |= MemAtomic;
      for (unsigned I = 0; I < X.op_count; ++I)
        if (general(X.operands[I]).Width == 8)
          Out.Stored = general(X.operands[I]).Number;
      x86::addExchange(*Insn, Out);
    } else {
      for (unsigned I = 0; I < X.op_count; ++I)
        Out.Clobbers |= bit(general(X.operands[I]).Number);
    }
    if (Insn->id == X86_INS_CMPXCHG)
      Out.Clobbers |= bit(0);
    else if (Out.MemCount && Out.Stored != NoReg)
      Out.Clobbers |= bit(Out.Stored);
    break;
  case X86Class::SystemCall:
    Out.Clobbers |= bit(0) | bit(1) | bit(11);
    break;
  case X86Class::String:
    for (unsigned I = 0; I < Out.MemCount; ++I)
      Out.Clobbers |= bit(Out.Mem[I].Base);
    if (X.prefix[0] == X86_PREFIX_REP || X.prefix[0] == X86_PREFIX_REPNE) {
      Out.Clobbers |= bit(1);
      for (unsigned I = 0; I < Out.MemCount; ++I)
        Out.Mem[I].Flags |= MemRepeated;
    }
    break;
  case X86Class::Call:
  case X86Class::Jump:
  case X86Class::Branch:
  case X86Class::Return:
  case X86Class::Stop:
    control(X, C, Out);
    break;
  default:
    break;
  }
  x86::addTraits(*Insn, Out);
  x86::addRounds(*Insn, Out);
  x86::addWaits(*Insn, Out);
  x86::addVectors(*Insn, Out);
  return true;
}

const Convention x86::GoInternal = {
    .Registers = 16,
    .StackPointer = X86Rsp,
    .CallerSaved = 0xffff & ~(bit(X86Rsp) | bit(5) | bit(14)),
    .Result = bit(0),
    .Results = 0xfcb,
    .Arguments = GoArguments,
    .PerfNumbers = PerfNumbers,
    .FunctionsByWord = true,
};

std::unique_ptr<Decoder> x86::makeDecoder() {
  csh Handle;
  if (cs_open(CS_ARCH_X86, CS_MODE_64, &Handle) != CS_ERR_OK)
    return nullptr;
  cs_option(Handle, CS_OPT_DETAIL, CS_OPT_ON);
  return std::make_unique<CachedDecoder>(std::make_unique<X86Decoder>(Handle));
}

} // namespace linemate
