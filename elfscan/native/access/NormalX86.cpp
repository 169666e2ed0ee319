//===- NormalX86.cpp - x86-64 instructions without addresses --------------===//
//
// Owns where addresses stand in an x86 instruction.
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
      // 64-bit code has no displacement of two bytes, which capstone reports
      // where an operand-size prefix belongs to the instruction.
      if (Row.OtherIs != Operand::Kept)
        clear(Row, Where.disp_offset,
              Where.disp_size == 2 ? 4 : Where.disp_size);
    }
  }
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
