//===- Op.h - One instruction, as far as the data flow needs it -*- C++ -*-===//
//
// Owns the architecture-neutral form into which the decoders translate: what
// an instruction does to registers, which bytes of memory it names, where
// control goes.  A decoder states facts and never judges.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ACCESS_OP_H
#define LINEMATE_ACCESS_OP_H

#include "Tables.h"

#include <cstdint>

namespace linemate {

/// Register numbers are those of the instructions' encodings, 0 to 31.
inline constexpr int8_t NoReg = -1;
/// Reads as zero, writes vanish (xzr, RISC-V's x0).
inline constexpr int8_t ZeroReg = 32;
/// A register that is not followed: vector, 32-bit address.
inline constexpr int8_t OtherReg = 33;
/// Stands for the immediate operand where a stored register is named.
inline constexpr int8_t ImmReg = 34;
/// The same, for memory that becomes its old content plus Imm.
inline constexpr int8_t StepReg = 35;
/// Stands for the content of Mem[0] where a tested register is named.
inline constexpr int8_t MemReg = 36;
/// Points to the storage of the running thread (tpidr_el0, RISC-V's tp).
inline constexpr int8_t ThreadReg = 37;
inline constexpr unsigned MaxRegs = 32;

/// How a general register gets its value.  Registers that an instruction
/// changes in any other way are in Op::Clobbers.
enum class Transfer : uint8_t {
  None,
  Move,      ///< Dst = Src
  Extend,    ///< Dst = Src, narrowed and extended
  Constant,  ///< Dst = Imm
  Address,   ///< Dst = Imm, an address relative to the program counter
  Page,      ///< Dst = Imm, the page of an address; an operand completes it
  High,      ///< Dst = Imm, the upper part of a number, or of an address where
             ///< code is linked to run where it is; an operand completes it
  Lea,       ///< Dst = the address of Mem[0]
  Add,       ///< Dst = Src + (Src2 << Shift), or Src + Imm without Src2
  Sub,       ///< Dst = Src - (Src2 << Shift)
  Scale,     ///< Dst = Src * Imm
  Product,   ///< Dst = Src * Factor, plus Src2 where given
  Load,      ///< Dst = the content of Mem[0]
  AddLoad,   ///< Dst = Src + the content of Mem[0]
  ScaleLoad, ///< Dst = the content of Mem[0] * Imm
  Select,    ///< Dst = Src, or Src2 (or, without it, the content of Mem[0])
  Insert,    ///< Dst = Dst with 16 bits at Shift replaced by Imm (movk)
  Align,     ///< Dst = Src & Imm, which moves an address down if Imm < 0
  ShiftUp,   ///< Dst = Src << Imm, of 32 and more: its ShiftDown tells why
  ShiftDown, ///< Dst = Src >> Imm, of either sign
  Part,      ///< Dst = some of Src's bits
};

enum class Flow : uint8_t {
  Next,
  Branch, ///< conditional, to Imm
  Jump,   ///< to Imm
  IndirectJump,
  Call, ///< to Imm
  IndirectCall,
  Return,
  Stop, ///< nothing that is known follows
};

/// Where a conditional branch goes when what was tested last is zero.
enum class OnZero : uint8_t { Unknown, Branches, Continues };

/// On which result of the last test a conditional branch is taken, where it
/// asks for an order with zero.
enum class OnSign : uint8_t {
  Unknown,
  Negative,    ///< below zero
  NotPositive, ///< zero or below
  NotNegative,
  Positive,
};

enum MemFlag : uint16_t {
  MemPcRelative = 1, ///< Disp is the whole address, before an index
  MemSegment = 2,    ///< relative to a segment: not static data
  MemRepeated = 4,   ///< a string operation with a count register
  MemAtomic = 8,
  MemExclusive = 16, ///< load or store exclusive
  MemSigned = 32,    ///< the loaded value is sign-extended
  MemOtherBase = 64, ///< with MemSegment: relative to gs instead of fs
  MemImplicit = 128, ///< the top of the stack, of push and pop
  MemNarrow = 256,   ///< the index is half a register, or extended
};

/// What queries about sampled code ask of an instruction, and the data flow
/// does not.
enum Trait : uint16_t {
  Compares = 1,    ///< sets flags and no register: cmp, test
  Fuses = 2,       ///< retires with a conditional branch behind it
  Exchanges = 4,   ///< writes whatever was there
  KeepsOld = 8,    ///< the old content of memory ends in a register
  TakesFlags = 16, ///< turns flags into a register's content: setcc, cset
  Halts = 32,      ///< nothing follows: ud2, brk
  SystemCall = 64,
  StepsBases = 128, ///< each operand's base moves on by the operand's size
  HasSmall = 256,   ///< Op::Small is the second operand
};

/// Where code chooses a bit by number, as in sets that are kept in words.
enum class BitWork : uint8_t {
  None,
  Picks,   ///< one bit of BitsTo changes, or of memory where that is NoReg
  Shifts,  ///< BitsTo = BitsFrom, moved up by a register
  Combines ///< BitsTo, or memory, = the bits of BitsFrom and BitsFrom2, or of
           ///< BitsFrom and what memory held
};

struct MemOperand {
  Access Kind = Access::None;
  int8_t Base = NoReg;
  int8_t Index = NoReg;
  uint8_t Shift = 0;
  uint16_t Flags = 0; ///< MemFlag
  uint32_t Size = 0;
  int64_t Disp = 0;
  bool operator==(const MemOperand &) const = default;
};

/// Which of two numbers that were compared a conditional branch asks for to be
/// less: the first one, or not.
enum class OnOrder : uint8_t {
  Unknown,
  Below,
  BelowOrSame,
  Above,
  AboveOrSame
};

/// What becomes of the two halves of a vector register.
enum class VectorMove : uint8_t {
  Unknown,
  Low,      ///< VectorFrom, a general register; the upper half is lost
  High,     ///< the lower half of VectorLow, and VectorFrom, a general register
  Lowers,   ///< the lower halves of VectorLow and of VectorFrom
  Copy,     ///< VectorFrom
  LowLoad,  ///< the 8 bytes of Mem[0]; the upper half is lost
  HighLoad, ///< the lower half of VectorLow, and the 8 bytes of Mem[0]
  Load,     ///< the 16 bytes of Mem[0]
};
inline constexpr unsigned MaxVectors = 16;

struct Op {
  uint64_t Ip = 0;
  uint8_t Length = 0;
  Transfer How = Transfer::None;
  Flow Next = Flow::Next;
  uint8_t Width = 8; ///< bytes of the result or the stored value
  int8_t Dst = NoReg;
  int8_t Src = NoReg;
  int8_t Src2 = NoReg;
  int8_t Factor = NoReg;
  bool Narrow = false;      ///< Src2 is extended from 8 or 16 bits
  bool SignExtends = false; ///< the 4 bytes of Width, else the rest is zero
  bool OfHalf = false;      ///< what is extended are the lower 4 bytes of Src
  bool IsUnknown = false;   ///< only Length and Clobbers are known
  uint8_t Shift = 0;
  uint8_t MemCount = 0;
  int8_t Stored = NoReg;  ///< register whose 8 bytes Mem[StoredTo] receives
  int8_t Stored2 = NoReg; ///< and the next 8 bytes (stp)
  int8_t Second = NoReg;  ///< loaded from the 8 bytes after Dst's (ldp)
  uint8_t StoredTo = 0;
  VectorMove Vector = VectorMove::Unknown;
  int8_t VectorDst = NoReg;    ///< vector register that is written
  int8_t VectorFrom = NoReg;   ///< see VectorMove
  int8_t VectorLow = NoReg;    ///< the same
  int8_t VectorStored = NoReg; ///< whose 16 bytes, or 8, Mem[0] receives
  bool StoresUpper = false;    ///< these 8 are its upper half
  int8_t StoredAny = NoReg;    ///< as Stored, of any width
  int8_t Swapped = NoReg;  ///< register that an exchange stores, of any width
  int8_t Proposed = NoReg; ///< register that a compare-and-swap stores; what it
                           ///< compares with is in the first result register
  int8_t Added = NoReg;  ///< register that is added to memory and gets the old
  int8_t Got = NoReg;    ///< register that gets what Mem[0] has, of any width
  int8_t Turned = NoReg; ///< register whose lowest bit changes
  int8_t AnsweredIn = NoReg; ///< register that gets what the last test found
  int8_t BitTested = NoReg;  ///< register whose lowest bit alone is tested
  int8_t NarrowTo = NoReg;   ///< register of which Imm replaces 1 or 2 bytes
  int8_t Compared = NoReg, ComparedTo = NoReg; ///< registers, or MemReg
  int8_t Tested = NoReg; ///< register that is compared with Against
  uint8_t Against = 0;   ///< zero as a rule
  OnZero Zero = OnZero::Unknown;
  bool AnswersZero = false; ///< AnsweredIn is one on zero, else on what is not
  OnSign Sign = OnSign::Unknown;
  OnOrder Order = OnOrder::Unknown;
  bool Unsigned = false;  ///< Order is that of numbers without a sign
  int8_t Asked = NoReg;   ///< first operand of a comparison, or MemReg
  uint32_t Mask = 0;      ///< the bits of Asked that alone are tested, or 0
  int8_t Rotated = NoReg; ///< register whose bits are turned, in place or round
  int8_t Divided = NoReg; ///< register that is divided, by the one operand, and
  int8_t Remainder = NoReg; ///< the one that gets what is left
  bool Multiplies = false;  ///< two registers, into the first that is named
  bool StepsMemory = false; ///< moves Mem[0] on by one
  bool TestsItself = false; ///< Sign is of an own operand, not of a test before
  bool AgainstNegative = false; ///< compares a register or memory with a
                                ///< negative number: Tested is then NoReg
  uint8_t Rarity = 0;      ///< of Rare: 4 * -log2 of the chance that it is open
  uint64_t Rare = 0;       ///< where a way begins that a static key opens, or 0
  bool ImmIsValue = false; ///< Imm is a full-width operand: may be an address
  int8_t Written = NoReg;  ///< base register that is moved by Step afterwards
  int32_t Step = 0;
  int64_t Imm = 0;
  uint32_t Clobbers = 0; ///< registers left with an unknown value
  uint32_t Named = 0;    ///< registers that the operands name
  uint16_t Traits = 0;   ///< Trait
  int8_t First = NoReg;  ///< general register that is the first operand
  uint8_t FirstWidth = 0;
  int32_t Small = 0; ///< an immediate second operand, see HasSmall
  BitWork Bits = BitWork::None;
  int8_t BitsTo = NoReg, BitsFrom = NoReg, BitsFrom2 = NoReg;
  MemOperand Mem[2];
  bool NeverReturns = false; ///< a call or a trap that nothing comes back from

  uint64_t end() const { return Ip + Length; }
  /// Does nothing: padding, or a hint.
  bool idles() const {
    return Next == Flow::Next && How == Transfer::None && !IsUnknown &&
           !Clobbers && Dst == NoReg && Written == NoReg && Tested == NoReg &&
           (!MemCount || Mem[0].Kind == Access::None);
  }
  bool isCall() const {
    return Next == Flow::Call || Next == Flow::IndirectCall;
  }
};

/// Does a branch behind it still see what was tested before it?
inline bool keepsFlags(const Op &O) {
  switch (O.How) {
  case Transfer::Move:
  case Transfer::Extend:
  case Transfer::Lea:
  case Transfer::Load:
    return true;
  case Transfer::Constant:
    return O.ImmIsValue;
  case Transfer::None:
    return !O.Clobbers && !(O.Traits & Compares) &&
           (!O.MemCount || O.Mem[0].Kind != Access::Rmw);
  default:
    return false;
  }
}

inline constexpr bool isFollowed(int8_t Reg) { return uint8_t(Reg) < MaxRegs; }

inline constexpr uint32_t bit(int8_t Reg) {
  return isFollowed(Reg) ? uint32_t(1) << Reg : 0;
}

} // namespace linemate

#endif // LINEMATE_ACCESS_OP_H
