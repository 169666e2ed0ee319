//===- JumpTable.cpp - The targets of a switch ----------------------------===//
//
// Owns the recognition of four idioms:
//   x86-64, position dependent   jmp *table(,%rax,8)          8-byte addresses
//   x86-64, PIC                  lea table, %rdx; movslq (%rdx,%rax,4), %rax;
//                                add %rdx, %rax; jmp *%rax    4 bytes + table
//   aarch64                      adrp+add table; ldrb (table, index); adr base;
//                                add base, entry << 2; br     1, 2 or 4 bytes,
//                                times 4, + base (or + table)
//   RISC-V                       lui or auipc, addi: table; slli index; add;
//                                lw or ld entry; add table, where entries are
//                                relative to it; jr
//
//===----------------------------------------------------------------------===//

#include "JumpTable.h"
#include "Graph.h"

#include <cstring>

namespace linemate {

namespace {

/// How far before the jump its parts are looked for.  Compilers keep them
/// together; a table's address that was hoisted out of a loop is farther.
constexpr uint32_t NearOps = 32;
constexpr uint32_t FarOps = 2048;
constexpr uint32_t MaxEntries = 4096;

/// Where a load finds an entry of a table.
struct Lookup {
  uint64_t Table = 0; ///< 0: not known
  bool IsIndexed = false;
};

struct Idiom {
  uint64_t Table = 0;
  uint64_t Base = 0; ///< added to each entry; 0: entries are addresses
  uint8_t EntrySize = 0;
  uint8_t Shift = 0;
  bool Signed = true;
};

/// The last op before \p Before, at most \p Reach back, that sets \p Reg.
uint32_t definition(std::span<const Op> Ops, uint32_t Before, int8_t Reg,
                    uint32_t Reach) {
  for (uint32_t N = 0; N < Reach && Before-- > 0; ++N)
    if (Ops[Before].Dst == Reg || Ops[Before].Clobbers & bit(Reg))
      return Before;
  return Ops.size();
}

/// The address that \p Reg was given before \p Before, 0 when unknown.
uint64_t addressIn(std::span<const Op> Ops, uint32_t Before, int8_t Reg) {
  uint32_t At = definition(Ops, Before, Reg, FarOps);
  if (At == Ops.size())
    return 0;
  const Op &O = Ops[At];
  if (O.How == Transfer::Address || O.How == Transfer::Page)
    return O.Imm;
  if (O.How == Transfer::Lea && O.Mem[0].Flags & MemPcRelative)
    return O.Mem[0].Disp;
  if (O.How == Transfer::Add && O.Src2 == NoReg) {
    uint32_t Page = definition(Ops, At, O.Src, FarOps);
    if (Page < Ops.size() &&
        (Ops[Page].How == Transfer::Page || Ops[Page].How == Transfer::High))
      return Ops[Page].Imm + O.Imm;
  }
  return 0;
}

/// Where the operand of the load \p At, of base and index or of one register
/// that is their sum, finds its entry.
Lookup lookup(std::span<const Op> Ops, uint32_t At) {
  const MemOperand &M = Ops[At].Mem[0];
  if (M.Index != NoReg)
    return {M.Base == NoReg ? uint64_t(M.Disp)
                            : addressIn(Ops, At, M.Base) + M.Disp,
            true};
  if (M.Base == NoReg)
    return {};
  uint32_t Sum = definition(Ops, At, M.Base, NearOps);
  if (Sum == Ops.size() || Ops[Sum].How != Transfer::Add ||
      Ops[Sum].Src2 == NoReg)
    return {};
  for (int8_t Reg : {Ops[Sum].Src, Ops[Sum].Src2}) {
    // The upper part alone, where the load has the rest.
    uint32_t Made = definition(Ops, Sum, Reg, FarOps);
    if (Made < Ops.size() && Ops[Made].How == Transfer::High)
      return {uint64_t(Ops[Made].Imm) + uint64_t(M.Disp), true};
    if (uint64_t Table = addressIn(Ops, Sum, Reg))
      return {Table + M.Disp, true};
  }
  return {};
}

bool recognise(std::span<const Op> Ops, uint32_t Jump, Idiom &Out) {
  const Op &J = Ops[Jump];
  const Op *Load = nullptr;
  if (J.MemCount == 1) {
    Load = &J;
  } else {
    // The jump's register: loaded from the table, or the sum of an entry and
    // a base.
    uint32_t At = definition(Ops, Jump, J.Src, NearOps);
    if (At == Ops.size())
      return false;
    int8_t Entry = NoReg;
    if (Ops[At].How == Transfer::Load) {
      Load = &Ops[At];
    } else if (Ops[At].How == Transfer::Add && Ops[At].Src2 != NoReg) {
      const Op &Sum = Ops[At];
      for (int8_t Reg : {Sum.Src2, Sum.Src}) {
        uint32_t From = definition(Ops, At, Reg, NearOps);
        if (From < Ops.size() && Ops[From].How == Transfer::Load &&
            lookup(Ops, From).IsIndexed) {
          Load = &Ops[From];
          Entry = Reg;
          Out.Signed = Load->Mem[0].Flags & MemSigned || Sum.Imm < 0;
          break;
        }
      }
      if (!Load)
        return false;
      int8_t Base = Entry == Sum.Src2 ? Sum.Src : Sum.Src2;
      Out.Base = addressIn(Ops, At, Base);
      Out.Shift = Entry == Sum.Src2 ? Sum.Shift : 0;
      if (!Out.Base)
        return false;
    }
  }
  if (!Load)
    return false;
  Lookup Where = lookup(Ops, Load - Ops.data());
  if (!Where.IsIndexed)
    return false;
  Out.EntrySize = Load->Mem[0].Size;
  Out.Table = Where.Table;
  switch (Out.EntrySize) {
  case 8:
    return !Out.Base;
  case 4: // whole addresses too, where code lies low
    return true;
  case 1:
  case 2:
    return Out.Base;
  default:
    return false;
  }
}

int64_t entry(const uint8_t *At, const Idiom &I) {
  uint64_t Raw = 0;
  std::memcpy(&Raw, At, I.EntrySize);
  unsigned Unused = 64 - 8 * I.EntrySize;
  if (!I.Signed || Unused == 0)
    return int64_t(Raw);
  return int64_t(Raw << Unused) >> Unused;
}

} // namespace

void readJumpTable(const Plan &P, std::span<const Op> Ops, uint32_t Jump,
                   uint64_t Begin, uint64_t End,
                   std::vector<uint32_t> &Targets) {
  Idiom I;
  if (!recognise(Ops, Jump, I))
    return;
  std::span<const uint8_t> Bytes = P.constantsAt(I.Table);
  for (uint32_t N = 0; N < MaxEntries; ++N) {
    if (Bytes.size() < I.EntrySize)
      return;
    uint64_t To = I.Base + (uint64_t(entry(Bytes.data(), I)) << I.Shift);
    if (To < Begin || To >= End)
      return;
    uint32_t Target = opAt(Ops, To);
    if (Target == Ops.size())
      return;
    Targets.push_back(Target);
    Bytes = Bytes.subspan(I.EntrySize);
  }
}

} // namespace linemate
