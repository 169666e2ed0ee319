//===- Moves.cpp - What a function does with pointers -----------*- C++ -*-===//
//
// Owns the list of all values of one function that may be pointers: addresses
// that are accessed, what is stored, handed to calls and returned.  Who joins
// those of all functions knows which objects code without debug information
// comes to.
//
//===----------------------------------------------------------------------===//

#include "Origins.h"

#include <algorithm>

namespace linemate {

namespace {

/// Instructions before a store of a vector register that are looked at for what
/// is in its halves.
constexpr uint32_t MaxVectorSteps = 32;
/// Vector registers that are followed to another one.
constexpr unsigned MaxVectorMoves = 4;
/// Instructions before a load from the frame that are looked at for stores.
constexpr unsigned MaxWays = 1024;
/// What a stack pointer that is a line's begin is a multiple of.
constexpr int64_t LineBytes = 64;
/// In front of places in a frame of which the distance from entry is not known:
/// once where it is aligned to a line, twice where to something else.
constexpr int64_t Aligned = -(int64_t(1) << 30);
/// Stores that one load from the frame may see.
constexpr size_t MaxSlotStores = 4;

} // namespace

/// How far the stack pointer is below its place at entry, in the order of the
/// code: what comes behind an end of the function is as deep as it was before
/// its epilogue began.
void OriginFinder::sink() {
  int8_t Stack = B.convention().StackPointer;
  Sunk.assign(B.size(), 0);
  int64_t Now = 0, Deepest = 0;
  for (uint32_t Row = 0; Row < B.size(); ++Row) {
    if (Row && !B.fallsInto(Row))
      Now = Deepest;
    Sunk[Row] = Now;
    Effect E = B.effect(Row);
    bool IsKnown = !(E.Writes & bit(Stack));
    for (const KnownValue &V : E.values())
      if (V.Dst == Stack && V.Source == Stack) {
        Now += V.Constant;
        IsKnown = true;
      }
    // Aligned: from there on all is far from what is counted from entry.
    const Op &O = B.op(Row);
    if (!IsKnown && O.How != Transfer::Load && Now > Aligned)
      Now = O.Traits & HasSmall && O.Small == -LineBytes
                ? (Now & -LineBytes) + Aligned
                : Now + 2 * Aligned;
    Deepest = std::min(Deepest, Now);
  }
}

void OriginFinder::findMoves(int32_t Query) {
  WithEntry = true;
  sink();
  for (uint32_t Row = 0; Row < B.size(); ++Row)
    moves(Row, Query);
  WithEntry = false;
}

/// The row in front of those of one value.
void OriginFinder::begin(uint32_t Row, Moved What, uint64_t Callee,
                         uint32_t Number, int32_t Query) {
  Out.push_back({B.op(Row).Ip, int64_t(Callee), Query, -1, NoReg, uint8_t(What),
                 WordSet::Begins, uint8_t(Number), 0});
}

void OriginFinder::value(uint32_t Row, int8_t Reg, int32_t Query) {
  Asked = Row;
  Todo.assign(1, {Row, Reg, 0, false, -1, 0});
  walk(Query);
}

void OriginFinder::moves(uint32_t Row, int32_t Query) {
  const Op &O = B.op(Row);
  const Convention &C = B.convention();
  if (O.MemCount && O.Next == Flow::Next) {
    begin(Row, Moved::Access, 0, 0, Query);
    find(Row, Query);
    if (isFollowed(O.Stored)) {
      begin(Row, Moved::Stored, 0, 0, Query);
      value(Row, O.Stored, Query);
    }
    if (O.VectorStored != NoReg && O.Mem[0].Kind == Access::Store)
      for (bool Upper : {false, true})
        if (O.Mem[0].Size == 16 || Upper == O.StoresUpper) {
          begin(Row, Moved::Stored, 0, O.Mem[0].Size == 16 && Upper ? 8 : 0,
                Query);
          vectorValue(Row, Upper, Query);
        }
    return;
  }
  Control How = B.control(Row);
  if (How == Control::Return) {
    for (int8_t Reg = 0; Reg < int8_t(C.Registers); ++Reg)
      if (C.Result & bit(Reg)) {
        begin(Row, Moved::Returns, 0, 0, Query);
        value(Row, Reg, Query);
      }
    return;
  }
  bool Leaves = How == Control::Jump && B.target(Row) == NoRow;
  if (How != Control::Call && !Leaves)
    return;
  uint64_t Callee = targetOf(O);
  for (uint32_t Number = 0; Number < C.Arguments.size(); ++Number) {
    begin(Row, Moved::Handed, Callee, Number, Query);
    findHanded(Row, Number, Query);
  }
  if (Callee)
    return;
  begin(Row, Moved::Called, 0, Leaves, Query);
  if (!O.MemCount)
    value(Row, O.Src, Query);
  else if (O.Mem[0].Base != NoReg || O.Mem[0].Flags & MemPcRelative) {
    Asked = Row;
    Todo.clear();
    Out.push_back({O.Ip, 0, Query, -1, NoReg, 0, WordSet::Unknown, 0, 0});
    operand(Row, O.Mem[0], {Row, NoReg, 0, false, int32_t(Out.size() - 1), 1});
    walk(Query);
  }
}

/// What half of the vector register is that \p Row stores, where straight code
/// before it tells.
void OriginFinder::vectorValue(uint32_t Row, bool Upper, int32_t Query) {
  int8_t Reg = B.op(Row).VectorStored;
  unsigned Moves = 0;
  for (uint32_t At = Row; At > 0 && Row - At < MaxVectorSteps; --At) {
    if (!B.fallsInto(At) || B.control(At - 1) == Control::Call)
      return;
    const Op &O = B.op(At - 1);
    if (O.VectorDst != Reg)
      continue;
    if (++Moves > MaxVectorMoves)
      return;
    bool IsLoad = O.Vector == VectorMove::LowLoad ||
                  O.Vector == VectorMove::HighLoad ||
                  O.Vector == VectorMove::Load;
    bool InLow = O.Vector == VectorMove::HighLoad && !Upper;
    if (IsLoad && !InLow) {
      if (O.Vector == VectorMove::LowLoad && Upper)
        return;
      Asked = At - 1;
      Todo.clear();
      Out.push_back({O.Ip, 0, Query, -1, NoReg, 0, WordSet::Unknown, 0, 0});
      int64_t Behind = O.Vector == VectorMove::Load && Upper ? 8 : 0;
      operand(At - 1, O.Mem[0],
              {At - 1, NoReg, Behind, false, int32_t(Out.size() - 1), 1});
      walk(Query);
      return;
    }
    switch (O.Vector) {
    case VectorMove::Low:
      if (!Upper)
        value(At - 1, O.VectorFrom, Query);
      return;
    case VectorMove::High:
      if (Upper) {
        value(At - 1, O.VectorFrom, Query);
        return;
      }
      Reg = O.VectorLow;
      break;
    case VectorMove::HighLoad:
      Reg = O.VectorLow;
      break;
    case VectorMove::Lowers:
      Reg = Upper ? O.VectorFrom : O.VectorLow;
      Upper = false;
      break;
    case VectorMove::Copy:
      Reg = O.VectorFrom;
      break;
    default:
      return;
    }
  }
}

/// Follows what is in a word of the frame that \p Load loads to the stores that
/// lead there on all ways: a compiler keeps one value after another in it.
/// False where something else may be in it.
bool OriginFinder::fromSlot(const Setter &Load, const MemOperand &M,
                            Item Next) {
  if (!isFollowed(M.Base) || M.Index != NoReg || M.Flags & MemSegment)
    return false;
  if (!HasStores)
    readStores();
  auto Here = std::ranges::equal_range(Stores, std::pair(M.Base, M.Disp), {},
                                       &Store::place);
  if (!(FrameRegisters & bit(M.Base)) || Here.empty())
    return false;
  std::vector<uint32_t> Found, Pending{Load.Row}, Before;
  unsigned Walked = 0;
  ++Walk;
  SeenIn.resize(B.size());
  while (!Pending.empty()) {
    uint32_t At = Pending.back();
    Pending.pop_back();
    if (At == 0 || B.sources(At).size() > MaxWays)
      return false;
    Before.assign(B.sources(At).begin(), B.sources(At).end());
    if (B.fallsInto(At))
      Before.push_back(At - 1);
    for (uint32_t From : Before) {
      if (SeenIn[From] == Walk)
        continue;
      SeenIn[From] = Walk;
      if (Walked++ == MaxWays)
        return false;
      if (std::ranges::find(Here, From, &Store::Row) == Here.end())
        Pending.push_back(From);
      else if (Found.size() == MaxSlotStores)
        return false;
      else
        Found.push_back(From);
    }
  }
  Next.Indexed = Load.Stepped;
  for (uint32_t Row : Found) {
    Next.Row = Row;
    Next.Reg = B.op(Row).Stored;
    if (isFollowed(Next.Reg))
      later(Next);
    else if (B.op(Row).VectorStored != NoReg)
      return false;
  }
  return true;
}

/// What \p From has is an argument of the function.
void OriginFinder::given(const Item &From, int32_t Parent) {
  auto Registers = B.convention().Arguments;
  auto At = std::ranges::find(Registers, From.Reg);
  if (At == Registers.end() || B.size() == 0)
    return;
  const OriginRow &Of = Out[size_t(Parent)];
  Out.push_back({B.op(0).Ip, From.Offset, Of.Asked, From.Parent, NoReg,
                 uint8_t(From.Indexed || EntryStepped), WordSet::Given,
                 uint8_t(At - Registers.begin()), 0});
}

} // namespace linemate
