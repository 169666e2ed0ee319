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
constexpr unsigned MaxSums = 4;      ///< of which an index is made
constexpr size_t MaxNumbers = 2;     ///< indexes of one operand

/// What a row says of the elements of one.
uint8_t chosen(bool Indexed, bool Walks) {
  return uint8_t(Walks     ? Chosen::Walks
                 : Indexed ? Chosen::Somehow
                           : Chosen::None);
}

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
  Numbers.clear();
  operand(Row, *Named, {Row, NoReg, 0, false, -1, 0});
  walk(Query);
  for (size_t At = 0; At < std::min(Numbers.size(), MaxNumbers); ++At) {
    auto [Before, Reg] = Numbers[At];
    Todo.clear();
    number(Before, Reg, int32_t(Out.size()));
    if (Todo.empty())
      continue;
    Out.push_back({B.op(Before).Ip, 0, Query, -1, NoReg,
                   uint8_t(Chosen::Somehow), WordSet::Number, 0, 0});
    walk(Query);
  }
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
                   chosen(One.Indexed, One.Walks), One.Kept, uint8_t(One.Held),
                   0});
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
  bool Walks = Next.Walks;
  if (isFollowed(M.Index)) {
    Next.Walks |= walks(Row, M.Index);
    if (From.Parent < 0)
      Numbers.emplace_back(Row, M.Index);
  }
  Next.Reg = M.Flags & MemPcRelative ? NoReg : M.Base;
  if (isFollowed(Next.Reg) || M.Flags & MemPcRelative)
    later(Next);
  // Of two registers either may be the pointer.
  if (isFollowed(M.Index) && M.Shift == 0 && !(M.Flags & MemPcRelative)) {
    Next.Walks = Walks || (isFollowed(M.Base) && walks(Row, M.Base));
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
  Next.Walks |= Set.Stepped;
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
    if (From.Parent < 0 && isFollowed(O.Src2))
      Numbers.emplace_back(Set.Row, O.Src2);
    Next.Walks = From.Walks || Set.Stepped ||
                 (isFollowed(O.Src2) && walks(Set.Row, O.Src2));
    if (isFollowed(Next.Reg))
      later(Next);
    Next.Reg = O.Src2;
    Next.Walks = From.Walks || Set.Stepped ||
                 (isFollowed(O.Src) && walks(Set.Row, O.Src));
    if (O.How == Transfer::Add && O.Shift == 0 && isFollowed(Next.Reg))
      later(Next);
    Next.Walks = From.Walks || Set.Stepped;
    if (O.How != Transfer::AddLoad)
      return;
    Out[size_t(Parent)].Indexed = chosen(true, Next.Walks);
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
    Next.Walks = From.Walks || Set.Stepped;
    later(Next);
  }
  if (WithEntry && Store == NoRow && O.How == Transfer::Load &&
      fromSlot(Set, O.Mem[0], Next))
    return;
  // Its content is a word of memory.
  if (From.Level == MaxLevels || O.Width != 8 || !O.MemCount)
    return;
  if (Set.Stepped)
    Out[size_t(Parent)].Indexed = uint8_t(Chosen::Walks);
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
                   From.Parent, NoReg, chosen(From.Indexed, From.Walks),
                   WordSet::Returned, 0, 0});
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

/// From which words of memory the number in \p Reg is loaded, before \p Row, by
/// way of sums and products, which stay the same for the same number.
void OriginFinder::number(uint32_t Row, int8_t Reg, int32_t Parent,
                          unsigned Level) {
  bool FromEntry = false;
  if (Level == MaxSums || !isFollowed(Reg))
    return;
  for (const Setter &Set : settersOf(Row, Reg, FromEntry)) {
    const Op &O = B.op(Set.Row);
    if (O.Dst != Reg || Set.Stepped)
      continue;
    switch (O.How) {
    case Transfer::Move:
    case Transfer::Extend:
    case Transfer::Scale:
    case Transfer::ShiftUp:
      number(Set.Row, O.Src, Parent, Level + 1);
      break;
    case Transfer::Add:
    case Transfer::Product:
      number(Set.Row, O.Src, Parent, Level + 1);
      number(Set.Row, O.Src2, Parent, Level + 1);
      break;
    case Transfer::Lea:
      number(Set.Row, O.Mem[0].Base, Parent, Level + 1);
      number(Set.Row, O.Mem[0].Index, Parent, Level + 1);
      break;
    case Transfer::Load:
    case Transfer::ScaleLoad:
    case Transfer::AddLoad: {
      uint32_t Store =
          O.How == Transfer::Load ? storeTo(Set.Row, O.Mem[0]) : NoRow;
      if (Store != NoRow)
        number(Store, B.op(Store).Stored, Parent, Level + 1);
      else
        operand(Set.Row, O.Mem[0], {Set.Row, NoReg, 0, false, Parent, 1});
      break;
    }
    default:
      break;
    }
  }
}

/// Whether \p Reg is a number that a loop counts, before \p Row, or is made of
/// one by sums and products.  What is masked, shifted down or loaded is not: it
/// goes back, or where it likes.
bool OriginFinder::walks(uint32_t Row, int8_t Reg, unsigned Level) {
  bool FromEntry = false;
  std::vector<Setter> All = settersOf(Row, Reg, FromEntry);
  if (All.empty())
    return FromEntry && EntryStepped;
  if (std::ranges::any_of(All, &Setter::Stepped))
    return true;
  auto IsWalker = [&](uint32_t At, int8_t Of) {
    return Level < MaxSums && isFollowed(Of) && walks(At, Of, Level + 1);
  };
  return std::ranges::any_of(All, [&](const Setter &Set) {
    const Op &O = B.op(Set.Row);
    if (O.Dst != Reg)
      return false;
    switch (O.How) {
    case Transfer::Add:
    case Transfer::Sub:
      // By a step that is computed, as of threads that take turns.
      if (O.Src == Reg && O.Src2 != NoReg && Level < MaxSums)
        for (const Setter &Again : settersOf(Set.Row, Reg, FromEntry))
          if (Again.Row == Set.Row)
            return true;
      return IsWalker(Set.Row, O.Src) || IsWalker(Set.Row, O.Src2);
    case Transfer::Move:
    case Transfer::Extend:
    case Transfer::Scale:
    case Transfer::ShiftUp:
      return IsWalker(Set.Row, O.Src);
    case Transfer::Product:
      return IsWalker(Set.Row, O.Src) || IsWalker(Set.Row, O.Src2);
    case Transfer::Lea:
      return IsWalker(Set.Row, O.Mem[0].Base) ||
             IsWalker(Set.Row, O.Mem[0].Index);
    case Transfer::Load:
      return walksInFrame(O.Mem[0]);
    default:
      return false;
    }
  });
}

/// The same of a word of the frame, where code without optimization keeps it.
bool OriginFinder::walksInFrame(const MemOperand &M) {
  if (!isFollowed(M.Base) || M.Index != NoReg || M.Flags & MemSegment)
    return false;
  if (!HasStores)
    readStores();
  if (!(FrameRegisters & bit(M.Base)))
    return false;
  auto Here = std::ranges::equal_range(Stores, std::pair(M.Base, M.Disp), {},
                                       &Store::place);
  return std::ranges::any_of(Here, [&](const Store &Set) {
    const Op &O = B.op(Set.Row);
    if (O.StepsMemory || !isFollowed(O.Stored))
      return O.StepsMemory;
    bool FromEntry = false;
    return std::ranges::any_of(
        settersOf(Set.Row, O.Stored, FromEntry),
        [&](const Setter &One) { return isStep(B.op(One.Row), O.Stored); });
  });
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
