//===- DecodeRiscV.cpp - RISC-V instructions as Ops -----------------------===//
//
// Owns the translation of rv64gc, with the address arithmetic of Zba.  Read
// from the bit fields: the disassembler library states no operands of atomics
// and none at all beyond rv64gc, and the formats are few and regular.
//
//===----------------------------------------------------------------------===//

#include "Architectures.h"
#include "Decoder.h"
#include "RiscVCompressed.h"
#include "RiscVFormats.h"
#include "Value.h"

#include <cstring>

namespace linemate {

namespace {

using namespace riscv;

constexpr int8_t Arguments[] = {10, 11, 12, 13, 14, 15, 16, 17};
/// ra, t0 to t2, a0 to a7, t3 to t6.
constexpr uint32_t CallerSaved =
    bit(1) | bit(5) | bit(6) | bit(7) | 0x3fc00 | 0xf0000000;
constexpr Convention LP64 = {
    .Registers = 32,
    .StackPointer = Sp,
    .CallerSaved = CallerSaved,
    .Result = bit(A0),
    .Results = bit(A0) | bit(A1),
    .Arguments = Arguments,
};

constexpr bool isLink(uint32_t Number) { return Number == Ra || Number == T0; }

class RiscVDecoder final : public Decoder {
public:
  bool decode(std::span<const uint8_t> Code, uint64_t Ip, Op &Out) override;
  unsigned step() const override { return 2; }
  const Convention &convention() const override { return LP64; }
  void useGlobalPointer(uint64_t Value) override { Global = Value; }

private:
  std::optional<uint64_t> Global;

  void memory(uint32_t Word, int32_t Disp, Op &Out) const;
  void load(uint32_t Word, Op &Out) const;
  void store(uint32_t Word, Op &Out) const;
  void atomic(uint32_t Word, Op &Out) const;
  void immediate(uint32_t Word, Op &Out) const;
  static void immediate32(uint32_t Word, Op &Out);
  static void registers(uint32_t Word, Op &Out);
  static void registers32(uint32_t Word, Op &Out);
  static void indirect(uint32_t Word, Op &Out);
  static void system(uint32_t Word, Op &Out);
};

/// blt and bge of a register and x0.
OnSign signOf(uint32_t Word) {
  bool Below = funct3(Word) == 4, Or = funct3(Word) == 5;
  if (!Below && !Or)
    return OnSign::Unknown;
  if (rs2(Word) == Zero)
    return Below ? OnSign::Negative : OnSign::NotNegative;
  if (rs1(Word) == Zero)
    return Below ? OnSign::Positive : OnSign::NotPositive;
  return OnSign::Unknown;
}

/// \p How gives the destination its value; x0 takes none.
void result(uint32_t Word, Transfer How, Op &Out) {
  int8_t Dst = followed(rd(Word));
  if (!isFollowed(Dst))
    return;
  Out.Dst = Dst;
  Out.How = How;
  Out.Clobbers &= ~bit(Dst);
}

void clobber(uint32_t Word, Op &Out) {
  Out.Clobbers |= bit(followed(rd(Word)));
}

/// The result of a 32-bit operation is sign-extended.
void narrow(Op &Out) {
  Out.Width = 4;
  Out.SignExtends = true;
}

/// Src + (Src2 << Shift).
void sum(uint32_t Word, uint32_t Src, uint32_t Src2, unsigned Shift, Op &Out) {
  if (Src == Zero && Shift == 0) {
    Out.Src = followed(Src2);
    return result(Word, Transfer::Move, Out);
  }
  if (Src2 == Zero) {
    Out.Src = followed(Src);
    return result(Word, Transfer::Move, Out);
  }
  Out.Src = followed(Src);
  Out.Src2 = followed(Src2);
  Out.Shift = uint8_t(Shift);
  result(Word, Transfer::Add, Out);
}

void RiscVDecoder::memory(uint32_t Word, int32_t Disp, Op &Out) const {
  MemOperand &M = Out.Mem[0];
  Out.MemCount = 1;
  M.Disp = Disp;
  uint32_t Base = rs1(Word);
  if (Base == Gp && Global) {
    M.Flags |= MemPcRelative;
    M.Disp = wrapAdd(M.Disp, int64_t(*Global));
  } else if (Base == Tp) {
    M.Flags |= MemSegment;
  } else if (Base != Zero) {
    M.Base = followed(Base);
  }
}

void RiscVDecoder::load(uint32_t Word, Op &Out) const {
  uint32_t Width = funct3(Word);
  if (Width == 7)
    return void(Out.IsUnknown = true);
  memory(Word, immediateI(Word), Out);
  Out.Mem[0].Kind = Access::Load;
  Out.Mem[0].Size = 1u << (Width & 3);
  if (Width < 3)
    Out.Mem[0].Flags |= MemSigned;
  result(Word, Transfer::Load, Out);
}

void RiscVDecoder::store(uint32_t Word, Op &Out) const {
  uint32_t Width = funct3(Word);
  if (Width > 3)
    return void(Out.IsUnknown = true);
  memory(Word, immediateS(Word), Out);
  Out.Mem[0].Kind = Access::Store;
  Out.Mem[0].Size = 1u << Width;
  Out.StoredAny = followed(rs2(Word));
  if (Width == 3)
    Out.Stored = followed(rs2(Word));
}

/// lr, sc, the amo operations and amocas; sc is the write that makes both one
/// update.
void RiscVDecoder::atomic(uint32_t Word, Op &Out) const {
  constexpr uint32_t Lr = 2, Sc = 3, Cas = 5;
  constexpr uint32_t Known = 1u << 0 | 1u << 1 | 1u << Lr | 1u << Sc | 1u << 4 |
                             1u << Cas | 1u << 8 | 1u << 12 | 1u << 16 |
                             1u << 20 | 1u << 24 | 1u << 28;
  uint32_t Function = Word >> 27, Width = funct3(Word);
  clobber(Word, Out);
  if (Width > 4 || !(Known >> Function & 1))
    return void(Out.IsUnknown = true);
  memory(Word, 0, Out);
  MemOperand &M = Out.Mem[0];
  M.Size = 1u << Width;
  M.Kind = Function == Lr ? Access::Load : Access::Rmw;
  M.Flags |= MemAtomic;
  if (Function == Lr || Function == Sc)
    M.Flags |= MemExclusive;
  if (Function != Lr && Width == 3)
    Out.Stored = followed(rs2(Word));
}

void RiscVDecoder::immediate(uint32_t Word, Op &Out) const {
  int32_t Imm = immediateI(Word);
  unsigned Shift = Word >> 20 & 63;
  Out.Src = followed(rs1(Word));
  clobber(Word, Out);
  switch (funct3(Word)) {
  case 0: // addi
    Out.Imm = Imm;
    if (rs1(Word) == Zero) {
      Out.ImmIsValue = true;
      return result(Word, Transfer::Constant, Out);
    }
    if (rs1(Word) == Gp && Global) {
      Out.Imm = wrapAdd(Out.Imm, int64_t(*Global));
      return result(Word, Transfer::Address, Out);
    }
    return result(Word, Transfer::Add, Out);
  case 1: // slli
    if (Word >> 26)
      return; // of Zbb and the like: a new value
    Out.Imm = Shift < 32 ? int64_t(1) << Shift : int64_t(Shift);
    return result(Word, Shift < 32 ? Transfer::Scale : Transfer::ShiftUp, Out);
  case 5: // srli, srai
    if ((Word >> 26 & ~0x10u) != 0)
      return;
    Out.Imm = Shift;
    return result(Word, Transfer::ShiftDown, Out);
  case 7: // andi
    Out.Imm = Imm;
    return result(Word, Transfer::Align, Out);
  default:
    return;
  }
}

void RiscVDecoder::immediate32(uint32_t Word, Op &Out) {
  Out.Src = followed(rs1(Word));
  clobber(Word, Out);
  unsigned Shift = Word >> 20 & 31;
  switch (funct3(Word)) {
  case 0: // addiw; with 0 it is sext.w
    Out.Imm = immediateI(Word);
    if (Out.Imm == 0) {
      Out.OfHalf = true;
      return result(Word, Transfer::Extend, Out);
    }
    narrow(Out);
    return result(Word, Transfer::Add, Out);
  case 1: // slliw, and slli.uw of Zba
    Out.Imm = int64_t(1) << Shift;
    if (Word >> 26 == 2 && !(Word >> 25 & 1))
      return result(Word, Transfer::Scale, Out);
    if (Word >> 25 != 0)
      return;
    narrow(Out);
    return result(Word, Transfer::Scale, Out);
  case 5: // srliw, sraiw
    if ((Word >> 25 & ~0x20u) == 0)
      result(Word, Transfer::Part, Out);
    return;
  default:
    return;
  }
}

void RiscVDecoder::registers(uint32_t Word, Op &Out) {
  uint32_t Left = rs1(Word), Right = rs2(Word);
  clobber(Word, Out);
  switch (funct7(Word) << 3 | funct3(Word)) {
  case 0: // add
    return sum(Word, Left, Right, 0, Out);
  case 0x20 << 3: // sub
    Out.Src = followed(Left);
    Out.Src2 = followed(Right);
    return result(Word, Transfer::Sub, Out);
  case 1 << 3: // mul
    Out.Src = followed(Left);
    Out.Factor = followed(Right);
    return result(Word, Transfer::Product, Out);
  case 0x10 << 3 | 2: // sh1add, sh2add, sh3add
  case 0x10 << 3 | 4:
  case 0x10 << 3 | 6:
    return sum(Word, Right, Left, funct3(Word) / 2, Out);
  default:
    return;
  }
}

void RiscVDecoder::registers32(uint32_t Word, Op &Out) {
  uint32_t Left = rs1(Word), Right = rs2(Word);
  clobber(Word, Out);
  switch (funct7(Word) << 3 | funct3(Word)) {
  case 0: // addw
    if (Left == Zero || Right == Zero) {
      Out.Src = followed(Left == Zero ? Right : Left);
      Out.OfHalf = true;
      return result(Word, Transfer::Extend, Out);
    }
    narrow(Out);
    return sum(Word, Left, Right, 0, Out);
  case 0x20 << 3: // subw
    Out.Src = followed(Left);
    Out.Src2 = followed(Right);
    narrow(Out);
    return result(Word, Transfer::Sub, Out);
  case 1 << 3: // mulw
    Out.Src = followed(Left);
    Out.Factor = followed(Right);
    narrow(Out);
    return result(Word, Transfer::Product, Out);
  case 4 << 3: // add.uw; with x0 it is zext.w
    if (Right == Zero) {
      Out.Src = followed(Left);
      return result(Word, Transfer::Extend, Out);
    }
    [[fallthrough]];
  case 0x10 << 3 | 2: // sh1add.uw, sh2add.uw, sh3add.uw
  case 0x10 << 3 | 4:
  case 0x10 << 3 | 6:
    return sum(Word, Right, Left, funct3(Word) / 2, Out);
  default:
    return;
  }
}

/// jalr.  Which registers make it a return or a call is the manual's table of
/// hints to return-address stacks.
void RiscVDecoder::indirect(uint32_t Word, Op &Out) {
  uint32_t Link = rd(Word), To = rs1(Word);
  Out.Src = followed(To);
  Out.Imm = immediateI(Word);
  if (Link != Zero) {
    Out.Next = Flow::IndirectCall;
    if (Link == T0)
      Out.Clobbers = ~0u; // as of jal
    return;
  }
  Out.Next = isLink(To) ? Flow::Return : Flow::IndirectJump;
}

void RiscVDecoder::system(uint32_t Word, Op &Out) {
  if (Word == Ecall)
    Out.Clobbers |= bit(A0);
  else if (Word == Sret || Word == Mret)
    Out.Next = Flow::Return;
  else if (Word == Unimp)
    Out.Next = Flow::Stop;
  else if (funct3(Word) != 0) // a control and status register
    clobber(Word, Out);
}

bool RiscVDecoder::decode(std::span<const uint8_t> Code, uint64_t Ip, Op &Out) {
  uint32_t Word = 0;
  if (Code.size() < 2)
    return false;
  std::memcpy(&Word, Code.data(), 2);
  unsigned Length = 2;
  if ((Word & 3) != 3) {
    Word = expandCompressed(uint16_t(Word));
    if (!Word)
      return false;
  } else {
    if (Code.size() < 4 || (Word & 0x1f) == 0x1f) // of 48 bits and more
      return false;
    Length = 4;
    std::memcpy(&Word, Code.data(), 4);
  }
  Out = Op();
  Out.Ip = Ip;
  Out.Length = uint8_t(Length);
  switch (Word & 0x7f) {
  case Load:
    load(Word, Out);
    break;
  case LoadFp:
  case StoreFp: {
    bool IsLoad = (Word & 0x7f) == LoadFp;
    uint32_t Width = funct3(Word);
    if (Width == 0 || Width > 4) {
      Out.IsUnknown = true; // vectors: how long they are only the program knows
      break;
    }
    memory(Word, IsLoad ? immediateI(Word) : immediateS(Word), Out);
    Out.Mem[0].Kind = IsLoad ? Access::Load : Access::Store;
    Out.Mem[0].Size = 1u << Width;
    break;
  }
  case OpImm:
    immediate(Word, Out);
    break;
  case Auipc:
    Out.Imm = wrapAdd(int64_t(Ip), immediateU(Word));
    result(Word, Transfer::Page, Out);
    break;
  case OpImm32:
    immediate32(Word, Out);
    break;
  case Store:
    store(Word, Out);
    break;
  case Amo:
    atomic(Word, Out);
    break;
  case Register:
    registers(Word, Out);
    break;
  case Lui:
    Out.Imm = immediateU(Word);
    result(Word, Transfer::High, Out);
    break;
  case Register32:
    registers32(Word, Out);
    break;
  case Fp:
    // Comparisons, conversions and moves to a general register.
    if (uint32_t Kind = funct7(Word) >> 2;
        Kind == 0x14 || Kind == 0x18 || Kind == 0x1c)
      clobber(Word, Out);
    break;
  case Branch:
    Out.Next = Flow::Branch;
    Out.Imm = wrapAdd(int64_t(Ip), immediateB(Word));
    if (rs2(Word) == Zero && funct3(Word) <= 1) { // beqz, bnez
      Out.Tested = followed(rs1(Word));
      Out.Zero = funct3(Word) == 0 ? OnZero::Branches : OnZero::Continues;
    }
    Out.Sign = signOf(Word);
    Out.TestsItself = Out.Sign != OnSign::Unknown;
    if (Out.TestsItself)
      Out.First = followed(rs1(Word) == Zero ? rs2(Word) : rs1(Word));
    break;
  case Jalr:
    indirect(Word, Out);
    break;
  case Jal:
    Out.Next = rd(Word) == Zero ? Flow::Jump : Flow::Call;
    Out.Imm = wrapAdd(int64_t(Ip), immediateJ(Word));
    // A link in t0 is that of outlined code and of routines that save
    // registers: those may change any.
    if (rd(Word) == T0)
      Out.Clobbers = ~0u;
    break;
  case System:
    system(Word, Out);
    break;
  case MiscMem:
  case Madd:
  case Madd + 4:
  case Madd + 8:
  case Nmadd:
    break;
  default:
    Out.IsUnknown = true;
    clobber(Word, Out);
    break;
  }
  addTraits(Word, Out);
  return true;
}

/// Code that sets gp does so by auipc and addi, next to each other.  No value
/// where none does, or where they differ.
std::optional<uint64_t> globalPointer(const Plan &P) {
  constexpr uint32_t Upper = Auipc | Gp << 7;
  constexpr uint32_t Lower = OpImm | Gp << 7 | Gp << 15;
  std::optional<uint64_t> Found;
  for (const Bytes &B : P.Code)
    for (size_t At = 0; At + 8 <= B.Data.size(); At += 2) {
      uint32_t First, Second;
      std::memcpy(&First, B.Data.data() + At, 4);
      if ((First & 0xfff) != Upper)
        continue;
      std::memcpy(&Second, B.Data.data() + At + 4, 4);
      if ((Second & 0xfffff) != Lower)
        continue;
      uint64_t Value = B.Begin + At + uint64_t(int64_t(immediateU(First))) +
                       uint64_t(int64_t(immediateI(Second)));
      if (Found && *Found != Value)
        return std::nullopt;
      Found = Value;
    }
  return Found;
}

std::unique_ptr<Decoder> makeDecoder() {
  return std::make_unique<RiscVDecoder>();
}

} // namespace

extern const Architecture RiscV64Row;
const Architecture RiscV64Row = {
    .Number = Arch::RiscV64,
    .Name = "riscv64",
    .Make = makeDecoder,
    .Library = CS_ARCH_RISCV,
    .LibraryMode = cs_mode(CS_MODE_RISCV64 | CS_MODE_RISCVC),
    .MakeNormaliser = riscv::makeNormaliser,
    .GlobalPointer = globalPointer,
};

} // namespace linemate
