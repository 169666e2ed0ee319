//===- Effect.cpp - What one instruction does to registers ----------------===//
//
// Owns the way from an Op to its effect.
//
//===----------------------------------------------------------------------===//

#include "Effect.h"

#include <utility>

namespace linemate {

namespace {

constexpr uint16_t ToldFlags =
    MemPcRelative | MemSegment | MemOtherBase | MemAtomic | MemImplicit;

void addMemory(const Op &O, Effect &E) {
  for (unsigned I = 0; I < O.MemCount; ++I) {
    if (O.Mem[I].Kind == Access::None)
      continue;
    MemOperand &M = E.Mem[E.MemCount++] = O.Mem[I];
    if (M.Flags & MemNarrow)
      M.Index = OtherReg;
    M.Flags &= ToldFlags;
  }
  // Of a string instruction that loads and stores, the load is what stalls.
  if (E.MemCount == 2 && E.Mem[0].Kind == Access::Store &&
      E.Mem[1].Kind == Access::Load && !(E.Mem[1].Flags & MemImplicit))
    std::swap(E.Mem[0], E.Mem[1]);
}

void addValue(Effect &E, const KnownValue &V) {
  if (isFollowed(V.Dst))
    E.Values[E.ValueCount++] = V;
}

/// The destination where it is another register, or a constant, plus a
/// constant.
void addResult(const Op &O, Effect &E) {
  bool FromRegister = isFollowed(O.Src);
  switch (O.How) {
  case Transfer::Constant:
    return addValue(E, {O.Dst, NoReg, false, O.Imm});
  case Transfer::Address:
  case Transfer::Page:
    return addValue(E, {O.Dst, NoReg, true, O.Imm});
  case Transfer::Move:
    if (FromRegister && O.Width == 8)
      addValue(E, {O.Dst, O.Src, false, 0});
    else if (O.Src == ZeroReg)
      addValue(E, {O.Dst, NoReg, false, 0});
    return;
  case Transfer::Extend:
    if (FromRegister && O.OfHalf)
      addValue(E, {O.Dst, O.Src, false, 0, true});
    return;
  case Transfer::Add:
    if (FromRegister && O.Src2 == NoReg && O.Width >= 4)
      addValue(E, {O.Dst, O.Src, false, O.Imm, O.Width == 4});
    return;
  case Transfer::Lea: {
    const MemOperand &M = O.Mem[0];
    if (O.Width >= 4 && M.Index == NoReg && M.Base != OtherReg &&
        !(M.Flags & MemSegment))
      addValue(E, {O.Dst, M.Base, (M.Flags & MemPcRelative) != 0, M.Disp,
                   O.Width == 4});
    return;
  }
  default:
    return;
  }
}

} // namespace

Control controlOf(const Op &O) {
  if (O.Traits & Halts)
    return Control::Stop;
  if (O.Traits & SystemCall)
    return Control::SystemCall;
  switch (O.Next) {
  case Flow::Branch:
    return Control::Branch;
  case Flow::Jump:
  case Flow::IndirectJump:
    return Control::Jump;
  case Flow::Call:
  case Flow::IndirectCall:
    return Control::Call;
  case Flow::Return:
    return Control::Return;
  case Flow::Stop:
    return Control::Stop;
  case Flow::Next:
    break;
  }
  return Control::Next;
}

uint64_t targetOf(const Op &O) {
  bool Direct =
      O.Next == Flow::Branch || O.Next == Flow::Jump || O.Next == Flow::Call;
  return Direct ? uint64_t(O.Imm) : 0;
}

Effect effectOf(const Op &O, const Convention &C) {
  Effect E;
  addMemory(O, E);
  if (controlOf(O) == Control::Call) {
    E.Writes = C.CallerSaved;
    return E;
  }
  E.Writes = O.Clobbers | bit(O.Dst) | bit(O.Second) | bit(O.Written);
  addResult(O, E);
  // What is loaded into the stack pointer is not what is left after a pop.
  if (O.Step && O.Written != O.Dst)
    addValue(E, {O.Written, O.Written, false, O.Step});
  if (O.Traits & StepsBases)
    for (const MemOperand &M : E.memory())
      addValue(E, {M.Base, M.Base, false, M.Size});
  return E;
}

} // namespace linemate
