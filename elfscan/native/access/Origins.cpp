//===- Origins.cpp - Where the address of an access comes from ------------===//
//
// Owns the bounded walk back from an operand.
//
//===----------------------------------------------------------------------===//

#include "Origins.h"

#include <algorithm>

namespace linemate {

namespace {

constexpr unsigned MaxLevels = 5;    ///< an element behind what a closure holds
constexpr size_t MaxRows = 24;       ///< of one operand
constexpr unsigned MaxWalked = 1024; ///< instructions, for one register
constexpr size_t MaxSetters = 4;     ///< of one register, where ways meet

/// Whether \p O only moves a register on by a constant.
bool isStep(const Op &O, int8_t Reg) {
  return (O.How == Transfer::Add && O.Dst == Reg && O.Src == Reg &&
          O.Src2 == NoReg) ||
         (O.Step && O.Written == Reg && O.Dst != Reg && O.Second != Reg);
}

} // namespace

void OriginFinder::find(uint32_t Row, int32_t Query) {
  Asked = Row;
  Effect E = B.effect(Row);
  auto Named = std::ranges::find_if_not(E.memory(), isImplicit);
  if (Named == E.memory().end())
    return;
  Todo.clear();
  operand(Row, *Named, {Row, NoReg, 0, false, -1, 0});
  walk(Query);
}

void OriginFinder::findHanded(uint32_t Row, uint32_t Argument, int32_t Query) {
  auto Registers = B.convention().Arguments;
  if (Argument >= Registers.size())
    return;
  Asked = Row;
  Todo.assign(1, {Row, Registers[Argument], 0, false, -1, 0});
  walk(Query);
}

/// From what is to do on, nearest first.
void OriginFinder::walk(int32_t Query) {
  size_t First = Out.size();
  for (size_t At = 0; At < Todo.size() && Out.size() - First < MaxRows; ++At) {
    Item One = Todo[At];
    int8_t Base = B.convention().perfNumber(One.Reg);
    Out.push_back({B.op(One.Row).Ip, One.Offset, Query, One.Parent, Base,
                   uint8_t(One.Indexed), One.Kept, uint8_t(One.Held), 0});
    if (WithEntry && One.Reg == B.convention().StackPointer) {
      Out.back().Offset += Sunk[One.Row];
      Out.back().Kept = WordSet::Frame;
    }
    follow(One, int32_t(Out.size() - 1));
  }
}

/// The address of \p M, which the instruction \p Row names.
void OriginFinder::operand(uint32_t Row, const MemOperand &M,
                           const Item &From) {
  if (M.Base == OtherReg)
    return;
  Item Next = From;
  Next.Row = Row;
  Next.Offset = wrapAdd(Next.Offset, M.Disp);
  if (M.Flags & MemSegment) {
    Next.Kept = WordSet::Own;
    Next.Held = false;
    // Only what is loaded from there leads on: the place is no address.
    if (From.Parent >= 0 && M.Base == NoReg && M.Index == NoReg &&
        !(M.Flags & MemOtherBase))
      later(Next);
    return;
  }
  Next.Indexed |= M.Index != NoReg;
  Next.Reg = M.Flags & MemPcRelative ? NoReg : M.Base;
  if (isFollowed(Next.Reg) || M.Flags & MemPcRelative)
    later(Next);
  // Of two registers either may be the pointer.
  if (isFollowed(M.Index) && M.Shift == 0 && !(M.Flags & MemPcRelative)) {
    Next.Reg = M.Index;
    later(Next);
  }
}

/// Where the register of \p From, which is row \p Parent, got its value.
void OriginFinder::follow(const Item &From, int32_t Parent) {
  if (!isFollowed(From.Reg) || From.Reg == B.convention().StackPointer)
    return;
  bool FromEntry = false;
  std::vector<Setter> All = settersOf(From.Row, From.Reg, FromEntry);
  if (WithEntry && FromEntry)
    given(From, Parent);
  for (const Setter &Set : All)
    follow(From, Parent, Set, All.size() == 1);
}

/// The same where \p Set did, \p Alone or on one of several ways.
void OriginFinder::follow(const Item &From, int32_t Parent, const Setter &Set,
                          bool Alone) {
  Item Next = From;
  Next.Row = Set.Row;
  Next.Indexed |= Set.Stepped;
  Next.Kept = WordSet::Unknown; // the register may have moved on since
  Next.Held = false;
  if (B.control(Set.Row) == Control::Call) {
    returned(Next, B.op(Set.Row), Out[size_t(Parent)].Asked);
    return;
  }
  Effect E = B.effect(Set.Row);
  for (const KnownValue &V : E.values()) {
    if (V.Dst != From.Reg || V.IsHalf || (V.Source == NoReg && !V.IsAddress))
      continue;
    Next.Reg = V.Source;
    Next.Offset = wrapAdd(Next.Offset, V.Constant);
    later(Next);
    return;
  }
  const Op &O = B.op(Set.Row);
  if (O.Dst != From.Reg && O.Second != From.Reg)
    return;
  Next.Indexed = true;
  switch (O.How) {
  case Transfer::Lea:
    operand(Set.Row, O.Mem[0], Next);
    return;
  case Transfer::Add:
  case Transfer::Sub:
  case Transfer::AddLoad:
    if (O.Width != 8)
      return;
    Next.Reg = O.Src;
    if (isFollowed(Next.Reg))
      later(Next);
    Next.Reg = O.Src2;
    if (O.How == Transfer::Add && O.Shift == 0 && isFollowed(Next.Reg))
      later(Next);
    if (O.How != Transfer::AddLoad)
      return;
    Out[size_t(Parent)].Indexed = true;
    break;
  case Transfer::Load:
    break;
  default:
    return;
  }
  uint32_t Store = NoRow;
  if (O.How == Transfer::Load)
    Store = storeTo(Set.Row, O.Mem[0]);
  if (Store != NoRow) {
    Next.Row = Store;
    Next.Reg = B.op(Store).Stored;
    Next.Indexed = From.Indexed || Set.Stepped;
    later(Next);
  }
  if (WithEntry && Store == NoRow && O.How == Transfer::Load &&
      fromSlot(Set, O.Mem[0], Next))
    return;
  // Its content is a word of memory.
  if (From.Level == MaxLevels || O.Width != 8 || !O.MemCount)
    return;
  Out[size_t(Parent)].Indexed |= uint8_t(Set.Stepped);
  WordSet Kept = Store == NoRow || !Alone ? WordSet::Unknown
                 : B.mayRepeat(Store)     ? WordSet::Repeated
                                          : WordSet::Once;
  operand(Set.Row, O.Mem[0],
          {Set.Row, NoReg, O.Second == From.Reg ? 8 : 0, false, Parent,
           From.Level + 1, Kept, Alone && isHeld(Set.Row)});
}

/// To be followed, once: in a loop two registers may be each other's.
void OriginFinder::later(const Item &One) {
  if (std::ranges::find(Todo, One) == Todo.end())
    Todo.push_back(One);
}

/// The value of \p From is what \p Call returned.
void OriginFinder::returned(const Item &From, const Op &Call, int32_t Query) {
  uint64_t Callee = targetOf(Call);
  if ((Callee || WithEntry) && bit(From.Reg) == B.convention().Result)
    Out.push_back({WithEntry ? Call.Ip : Callee, From.Offset, Query,
                   From.Parent, NoReg, uint8_t(From.Indexed), WordSet::Returned,
                   0, 0});
}

/// Whether the word that \p Load loads is still the same, and its place still
/// known, when the asked instruction is done: straight code between the two
/// writes neither the word nor what its address is made of.
bool OriginFinder::isHeld(uint32_t Load) const {
  const MemOperand &M = B.op(Load).Mem[0];
  if (!isFollowed(M.Base) || M.Index != NoReg || M.Flags & MemSegment ||
      Load >= Asked || B.effect(Load).Writes & bit(M.Base))
    return false;
  for (uint32_t At = Load + 1; At <= Asked; ++At) {
    Effect E = B.effect(At);
    if (!B.fallsInto(At) || !B.sources(At).empty() ||
        B.control(At) == Control::Call || E.Writes & bit(M.Base))
      return false;
    for (const MemOperand &S : E.memory())
      if (S.Kind != Access::Load && S.Base == M.Base && S.Disp < M.Disp + 8 &&
          M.Disp < S.Disp + int64_t(S.Size))
        return false;
  }
  return true;
}

void OriginFinder::readStores() {
  HasStores = true;
  Stores.clear();
  int8_t Stack = B.convention().StackPointer;
  FrameRegisters = bit(Stack);
  for (uint32_t At = 0; At < B.size(); ++At) {
    Effect E = B.effect(At);
    for (const KnownValue &V : E.values())
      if (V.Source == Stack && !V.IsHalf)
        FrameRegisters |= bit(V.Dst);
    for (const MemOperand &M : E.memory())
      if (M.Kind != Access::Load && isFollowed(M.Base))
        Stores.push_back({M.Base, M.Disp, At});
  }
  std::ranges::sort(Stores, {}, &Store::place);
}

/// The one instruction that stores a register where \p M, in the frame, is
/// loaded from by \p Row: code without optimization keeps all variables there.
uint32_t OriginFinder::storeTo(uint32_t Row, const MemOperand &M) {
  if (!isFollowed(M.Base) || M.Index != NoReg || M.Flags & MemSegment)
    return NoRow;
  if (!HasStores)
    readStores();
  auto Here = std::ranges::equal_range(Stores, std::pair(M.Base, M.Disp), {},
                                       &Store::place);
  if (!(FrameRegisters & bit(M.Base)) || Here.size() != 1)
    return NoRow;
  uint32_t Found = Here.front().Row;
  return isFollowed(B.op(Found).Stored) && Found != Row ? Found : NoRow;
}

/// The instructions that set \p Reg for \p Row, none where these are too many.
/// A loop may move on what was set before it.
std::vector<OriginFinder::Setter>
OriginFinder::settersOf(uint32_t Row, int8_t Reg, bool &FromEntry) {
  std::vector<Setter> Found;
  uint32_t Step = NoRow;
  unsigned Walked = 0;
  ++Walk;
  EntryStepped = true;
  SeenIn.resize(B.size());
  std::vector<uint32_t> Pending{Row}, Before;
  while (!Pending.empty()) {
    uint32_t At = Pending.back();
    Pending.pop_back();
    FromEntry |= At == 0;
    if (B.sources(At).size() > MaxWalked)
      return {};
    Before.assign(B.sources(At).begin(), B.sources(At).end());
    if (B.fallsInto(At))
      Before.push_back(At - 1);
    for (uint32_t From : Before) {
      if (SeenIn[From] == Walk)
        continue;
      if (Walked++ == MaxWalked)
        return {};
      SeenIn[From] = Walk;
      if (!(B.effect(From).Writes & bit(Reg))) {
        Pending.push_back(From);
        continue;
      }
      bool Steps = isStep(B.op(From), Reg);
      if (Steps ? Step != NoRow : Found.size() == MaxSetters)
        return {};
      if (Steps)
        Step = From;
      else
        Found.push_back({From, false});
    }
  }
  EntryStepped = Step != NoRow;
  if (Step == NoRow)
    return Found;
  if (Found.empty() && !FromEntry)
    return {{Step, false}};
  for (Setter &One : Found)
    One.Stepped = true;
  return Found;
}

} // namespace linemate
