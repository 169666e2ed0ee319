//===- NormalX86.cpp - x86-64 instructions without addresses --------------===//
//
// Owns where addresses stand in an x86 instruction, and its form without
// registers.
//
//===----------------------------------------------------------------------===//

#include "Normal.h"
#include "X86Registers.h"

#include <algorithm>
#include <capstone/capstone.h>
#include <cstring>

namespace linemate {

namespace {

class X86Normaliser final : public Normaliser {
public:
  explicit X86Normaliser(csh H) : Handle(H), Insn(cs_malloc(H)) {}
  ~X86Normaliser() override {
    cs_free(Insn, 1);
    cs_close(&Handle);
  }
  InstructionRow read(std::span<const uint8_t> Code, uint64_t Ip,
                      const Surroundings &Around) override;

private:
  csh Handle;
  cs_insn *Insn;

  bool isRelative() const;
};

/// Whether the immediate is a distance from the instruction's end.
bool X86Normaliser::isRelative() const {
  return cs_insn_group(Handle, Insn, CS_GRP_BRANCH_RELATIVE);
}

void clear(InstructionRow &Row, unsigned At, unsigned Size) {
  if (At + Size <= Row.Length)
    std::memset(Row.Bytes + At, 0, Size);
}

/// What a number in an instruction is: fields of 32 bits hold no address of a
/// file that may be loaded anywhere, as linkers refuse to fill them.
Operand kindOfNumber(uint64_t N, const Surroundings &Around, uint64_t &Value) {
  Value = 0;
  return Around.isMovable() ? Operand::Kept : Around.kindOf(N, Value);
}

/// Whether an operand is at a distance from what a register points to.  Places
/// in a frame are each function's own.
bool isBehindPointer(const x86_op_mem &Where) {
  return Where.base != X86_REG_INVALID && Where.base != X86_REG_RSP &&
         Where.base != X86_REG_ESP && Where.segment != X86_REG_FS &&
         Where.segment != X86_REG_GS && Where.disp > 0;
}

bool isStackPointer(unsigned Register) {
  return Register == X86_REG_RSP || Register == X86_REG_ESP;
}

/// A place in the frame of the function, which other locals move.
bool isInFrame(const x86_op_mem &Where) {
  return isStackPointer(Where.base) ||
         (Where.base == X86_REG_RBP && Where.disp < 0);
}

/// FNV-1a, of numbers.
struct Hash {
  uint64_t Value = 0xcbf29ce484222325;
  void add(uint64_t N) { Value = (Value ^ N) * 0x100000001b3; }
};

/// An instruction without its registers, its addresses, and the size and the
/// places of the frame.
uint64_t shapeOf(const cs_insn &Insn, const InstructionRow &Row) {
  const cs_x86 &X = Insn.detail->x86;
  bool MovesFrame = X.op_count == 2 && X.operands[0].type == X86_OP_REG &&
                    isStackPointer(X.operands[0].reg);
  Hash H;
  H.add(Insn.id);
  H.add(X.prefix[0]); // lock, rep
  H.add(MovesFrame);
  for (unsigned I = 0; I < X.op_count; ++I) {
    const cs_x86_op &Op = X.operands[I];
    H.add(Op.type);
    if (!Row.IsJump)
      H.add(Op.size);
    if (Op.type == X86_OP_IMM) {
      H.add(uint64_t(Row.TargetIs));
      H.add(Row.TargetIs == Operand::Kept && !MovesFrame ? uint64_t(Op.imm)
                                                         : 0);
    } else if (Op.type == X86_OP_MEM) {
      H.add(Op.mem.segment);
      H.add(Op.mem.base != X86_REG_INVALID);
      H.add(Op.mem.index != X86_REG_INVALID ? unsigned(Op.mem.scale) : 0);
      H.add(isInFrame(Op.mem));
      H.add(uint64_t(Row.OtherIs));
      H.add(Row.OtherIs == Operand::Kept && !isInFrame(Op.mem)
                ? uint64_t(Op.mem.disp)
                : 0);
    }
  }
  return H.Value ? H.Value : 1;
}

Deed deedOf(const cs_insn &Insn, const InstructionRow &Row) {
  if (Row.IsJump)
    return Row.TargetIs == Operand::Inside ? Deed::Jumps : Deed::Other;
  const cs_x86 &X = Insn.detail->x86;
  bool UsesMemory = std::any_of(X.operands, X.operands + X.op_count,
                                [](auto &O) { return O.type == X86_OP_MEM; });
  switch (Insn.id) {
  case X86_INS_LEA:
  case X86_INS_NOP:
  case X86_INS_ENDBR64:
    return Deed::Moves;
  case X86_INS_PUSH:
  case X86_INS_POP:
  case X86_INS_MOV:
  case X86_INS_MOVABS:
  case X86_INS_MOVZX:
  case X86_INS_MOVSX:
  case X86_INS_MOVSXD:
  case X86_INS_CDQE:
    return UsesMemory ? Deed::Other : Deed::Moves;
  case X86_INS_XOR:
  case X86_INS_ADD:
  case X86_INS_SUB:
  case X86_INS_INC:
  case X86_INS_DEC:
  case X86_INS_AND:
  case X86_INS_OR:
  case X86_INS_SHL:
  case X86_INS_SHR:
  case X86_INS_SAR:
  case X86_INS_CMP:
  case X86_INS_TEST:
    return UsesMemory ? Deed::Other : Deed::Reckons;
  default:
    return Deed::Other;
  }
}

InstructionRow X86Normaliser::read(std::span<const uint8_t> Code, uint64_t Ip,
                                   const Surroundings &Around) {
  InstructionRow Row = {};
  const uint8_t *Bytes = Code.data();
  size_t Left = Code.size();
  uint64_t At = Ip;
  if (!cs_disasm_iter(Handle, &Bytes, &Left, &At, Insn)) {
    Row.Length = 1;
    Row.Bytes[0] = Code[0];
    return Row;
  }
  Row.Length = uint8_t(std::min<size_t>(Insn->size, sizeof Row.Bytes));
  std::memcpy(Row.Bytes, Code.data(), Row.Length);
  const cs_x86 &X = Insn->detail->x86;
  const cs_x86_encoding &Where = X.encoding;
  for (unsigned I = 0; I < X.op_count; ++I) {
    const cs_x86_op &Op = X.operands[I];
    if (Op.type == X86_OP_IMM && isRelative()) {
      Row.TargetIs = Around.kindOfTarget(uint64_t(Op.imm), Row.Target);
      Row.IsJump = Insn->id != X86_INS_CALL;
      clear(Row, Where.imm_offset, Where.imm_size);
    } else if (Op.type == X86_OP_IMM) {
      Row.TargetIs = kindOfNumber(uint64_t(Op.imm), Around, Row.Target);
      if (Row.TargetIs != Operand::Kept)
        clear(Row, Where.imm_offset, Where.imm_size);
    } else if (Op.type == X86_OP_MEM) {
      bool FromHere = Op.mem.base == X86_REG_RIP;
      // The offset of thread-local data from the thread's pointer.
      bool Local =
          (Op.mem.segment == X86_REG_FS || Op.mem.segment == X86_REG_GS) &&
          Op.mem.base == X86_REG_INVALID;
      Row.OtherIs = FromHere || Local ? Operand::Address
                                      : kindOfNumber(uint64_t(Op.mem.disp),
                                                     Around, Row.Other);
      if (Row.OtherIs == Operand::Kept && isBehindPointer(Op.mem)) {
        Row.OtherIs = Operand::Behind;
        Row.Other = uint64_t(Op.mem.disp);
      }
      // 64-bit code has no displacement of two bytes, which capstone reports
      // where an operand-size prefix belongs to the instruction.
      if (Row.OtherIs != Operand::Kept)
        clear(Row, Where.disp_offset,
              Where.disp_size == 2 ? 4 : Where.disp_size);
    }
  }
  Row.Shape = shapeOf(*Insn, Row);
  Row.Does = deedOf(*Insn, Row);
  return Row;
}

} // namespace

std::unique_ptr<Normaliser> x86::makeNormaliser() {
  csh Handle;
  if (cs_open(CS_ARCH_X86, CS_MODE_64, &Handle) != CS_ERR_OK)
    return nullptr;
  cs_option(Handle, CS_OPT_DETAIL, CS_OPT_ON);
  return std::make_unique<X86Normaliser>(Handle);
}

} // namespace linemate
