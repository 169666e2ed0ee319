//===- Pointers.cpp - Where pointers to functions are kept ----------------===//
//
// Owns the place that a call through a pointer takes its target from, and the
// places to which functions' addresses and own arguments are stored.  A place
// in a record is its distance from where a pointer points to: who made the
// record is not asked.
//
//===----------------------------------------------------------------------===//

#include "Flow.h"

#include <algorithm>

namespace linemate {

namespace {

/// Ops that are looked at for one pointer.
constexpr unsigned MaxWalked = 256;
/// Blocks before one, each the only one that leads to the next.
constexpr unsigned MaxAsked = 8;

} // namespace

bool FunctionFlow::sets(const Op &O, int8_t Reg) const {
  return O.Dst == Reg || O.Second == Reg || O.Written == Reg ||
         (O.Clobbers & bit(Reg)) ||
         (O.isCall() && C.CallerSaved & bit(Reg) &&
          (C.Result & bit(Reg) || O.Next != Flow::Call ||
           registersOf(Value::address(O.Imm, 0)).Written & bit(Reg)));
}

/// What op number \p Index names with \p M.
FunctionFlow::Holder FunctionFlow::holderAt(const MemOperand &M,
                                            const Effective &E,
                                            uint32_t Index) {
  const Value &V = E.Where;
  if (M.Flags & (MemSegment | MemRepeated) || V.Kind == ValueKind::Stack)
    return {};
  // An unknown pointer plus a number is a number of unknown steps.
  if (V.isNumber() && (V.IsAddress || V.isExact()))
    return V.IsAddress && V.isExact() ? Holder{SlotKind::Static, V.Base}
                                      : Holder();
  if (V.Kind == ValueKind::Param)
    return V.isExact() ? Holder{SlotKind::Record, V.Base} : Holder();
  return recordAt(M, BlockNumber, Index);
}

/// Whether the register has what another had before \p O, plus a constant;
/// then \p Way speaks of that one.
bool FunctionFlow::isMoved(const Op &O, WayBack &Way) {
  if (O.Dst != Way.Reg || O.Width != 8)
    return false;
  int64_t By = 0;
  if (O.How == Transfer::Move) {
    Way.Reg = O.Src;
  } else if (O.How == Transfer::Add && O.Src2 == NoReg) {
    Way.Reg = O.Src;
    By = O.Imm;
  } else if (O.How == Transfer::Lea && O.Mem[0].Index == NoReg &&
             !(O.Mem[0].Flags & (MemPcRelative | MemSegment))) {
    Way.Reg = O.Mem[0].Base;
    By = O.Mem[0].Disp;
  } else {
    return false;
  }
  Way.Offset = wrapAdd(Way.Offset, By);
  return true;
}

/// Follows \p Way to where its pointer is made, or to the beginning of its
/// block.
/// \p Walked counts the ops that were looked at.
FunctionFlow::Traced FunctionFlow::trace(WayBack &Way, unsigned &Walked) const {
  uint32_t First = G.blocks()[Way.Block].First;
  for (uint32_t At = Way.Before; At-- > First;) {
    const Op &O = Code[At];
    if (++Walked > MaxWalked)
      return Traced::Lost;
    if (!sets(O, Way.Reg))
      continue;
    bool IsLoaded = O.Dst == Way.Reg && O.How == Transfer::Load && O.Width == 8;
    if (O.isCall() ? bool(C.Result & bit(Way.Reg))
                   : O.Second == Way.Reg || IsLoaded)
      return Traced::Made;
    if (O.isCall() || !isMoved(O, Way) || !isFollowed(Way.Reg) ||
        Way.Reg == C.StackPointer)
      return Traced::Lost;
  }
  return Traced::BlockBegin;
}

/// The same where the base is a pointer that was loaded, returned by a call or
/// passed in, on all ways that lead to the op: one that the code moves on in a
/// loop, or makes of a number, says nothing of where the record begins.
FunctionFlow::Holder FunctionFlow::recordAt(const MemOperand &M, uint32_t Block,
                                            uint32_t Index) {
  if (M.Index != NoReg || !isFollowed(M.Base) || M.Base == C.StackPointer ||
      (P.Absolute && P.inData(M.Disp)))
    return {};
  Ways.assign(1, {Block, Index, M.Base, M.Disp});
  Begins.clear();
  Holder Found;
  unsigned Walked = 0;
  while (!Ways.empty()) {
    WayBack Way = Ways.back();
    Ways.pop_back();
    Traced To = trace(Way, Walked);
    bool IsPassed = To == Traced::BlockBegin && Way.Block == 0;
    if (To == Traced::Lost || (IsPassed && !isArgument(Way.Reg)))
      return {};
    if (To == Traced::Made || IsPassed) {
      if (Found.What != SlotKind::Unknown && Found.Where != Way.Offset)
        return {};
      Found = {SlotKind::Record, Way.Offset};
    }
    if (To == Traced::BlockBegin && !goBefore(Way))
      return {};
  }
  return Found;
}

bool FunctionFlow::isArgument(int8_t Reg) const {
  return Current.IsEntry && std::ranges::count(C.Arguments, Reg);
}

/// Adds the ways that lead to the beginning of \p Way's block.  False where
/// nothing known leads there, or two ways came there with different pointers.
bool FunctionFlow::goBefore(const WayBack &Way) {
  auto Seen = std::ranges::find(Begins, Way.Block, &WayBack::Block);
  if (Seen != Begins.end())
    return Seen->Reg == Way.Reg && Seen->Offset == Way.Offset;
  std::span<const uint32_t> Before = G.predecessors(Way.Block);
  if (Before.empty() && Way.Block != 0)
    return false;
  Begins.push_back(Way);
  for (uint32_t From : Before)
    Ways.push_back({From, G.blocks()[From].Last, Way.Reg, Way.Offset});
  return true;
}

/// How many registers may be arguments of a call here.  In the first other one
/// is what the call before has left: neither that nor a later one is.
size_t FunctionFlow::argumentsAtMost() const {
  size_t Count = 0;
  while (Count < C.Arguments.size() && !Now.Regs[C.Arguments[Count]].IsStale)
    ++Count;
  return Count;
}

/// Where op number \p Index, a call through a pointer, has the pointer from.
FunctionFlow::Holder FunctionFlow::calledFrom(const Op &O, uint32_t Index) {
  if (O.MemCount)
    return holderAt(O.Mem[0], effective(O.Mem[0], 0), Index);
  if (!isFollowed(O.Src))
    return {};
  Value V = reg(O, O.Src);
  if (V.Kind == ValueKind::Param)
    return V.isExact() && V.Base == 0 ? Holder{SlotKind::Argument, V.Arg}
                                      : Holder();
  std::optional<WayBack> Load = loadOf(O.Src, Index);
  if (!Load)
    return {};
  if (auto From = Zeros.loadedBy(Load->Before); From.Size == 8)
    return {SlotKind::Static, int64_t(From.Address)};
  const MemOperand &M = Code[Load->Before].Mem[0];
  if (M.Flags & (MemSegment | MemRepeated | MemPcRelative))
    return {};
  return recordAt(M, Load->Block, Load->Before);
}

/// The op that loads what \p Reg has before op number \p Index, the same on all
/// ways that lead there: before a loop, where each round calls the same.
std::optional<FunctionFlow::WayBack> FunctionFlow::loadOf(int8_t Reg,
                                                          uint32_t Index) {
  Ways.assign(1, {BlockNumber, Index, Reg, 0});
  Begins.clear();
  std::optional<WayBack> Found;
  unsigned Walked = 0;
  while (!Ways.empty()) {
    WayBack Way = Ways.back();
    Ways.pop_back();
    bool IsLoaded = false;
    for (uint32_t At = Way.Before;
         !IsLoaded && At-- > G.blocks()[Way.Block].First;) {
      const Op &Setter = Code[At];
      if (++Walked > MaxWalked)
        return {};
      if (!sets(Setter, Way.Reg))
        continue;
      if (Setter.Dst != Way.Reg || Setter.Width != 8)
        return {};
      if (Setter.How == Transfer::Move && isFollowed(Setter.Src)) {
        Way.Reg = Setter.Src;
        continue;
      }
      if (Setter.How != Transfer::Load || (Found && Found->Before != At))
        return {};
      Found = {Way.Block, At, Way.Reg, 0};
      IsLoaded = true;
    }
    if (!IsLoaded && (Way.Block == 0 || !goBefore(Way)))
      return {};
  }
  return Found;
}

/// Argument \p Number of a call, whose value is \p V, was loaded so many bytes
/// behind some pointer; \p Row has the call.
void FunctionFlow::loadedArgument(const Value &V, uint8_t Number, ArgRow Row,
                                  uint32_t Index) {
  if (V.Kind != ValueKind::Unknown && !(V.isNumber() && !V.IsAddress))
    return;
  std::optional<WayBack> Load = loadOf(C.Arguments[Number], Index);
  if (!Load)
    return;
  const MemOperand &M = Code[Load->Before].Mem[0];
  if (M.Flags & (MemSegment | MemRepeated | MemPcRelative))
    return;
  Holder From = recordAt(M, Load->Block, Load->Before);
  if (From.What == SlotKind::Record && From.Where >= 0)
    Out->Args.push_back({Row.Ip, Row.Callee, From.Where, Current.Row, Number,
                         uint8_t(ArgKind::Loaded), 0, LoopDepth});
}

/// \p V is stored so many bytes \p Behind where \p M points.
void FunctionFlow::keep(const Value &V, const MemOperand &M, const Effective &E,
                        uint32_t Index, int64_t Behind) {
  uint64_t Function = takesAddress(V) ? functionAt(V) : 0;
  bool IsArgument = V.Kind == ValueKind::Param && V.isExact() && V.Base == 0;
  if (!Function && !IsArgument)
    return;
  Holder In = holderAt(M, E, Index);
  Out->Kept.push_back({Code[Index].Ip, Function, Current.Row,
                       uint32_t(In.Where + Behind), uint8_t(In.What),
                       IsArgument ? V.Arg : uint8_t(0), 0, 0});
}

/// A static pointer is set to what another has, or to a new object; a new
/// object is given an address, an argument, or what leads to an object.
void FunctionFlow::hold(const Value &V, const MemOperand &M, const Effective &E,
                        uint32_t Index, int64_t Behind) {
  if (auto At = threadPlace(M, E)) {
    keepOwn(V, M, *At + Behind, Index);
    return;
  }
  if (M.Flags & MemSegment)
    return;
  if (!E.Where.isExact()) {
    holdInElements(V, M, E.Where, Behind, Index);
    return;
  }
  if (E.Where.Kind == ValueKind::Pointee) {
    holdIn(V, E.Where.Base + Behind, Index);
    return;
  }
  int64_t Place = wrapAdd(E.Where.Base, Behind);
  if (V.Kind != ValueKind::Pointee || M.Size < 8 || !E.Where.isNumber() ||
      !E.Where.IsAddress || !P.inData(Place))
    return;
  Out->Held.push_back({Code[Index].Ip, uint64_t(Place), uint64_t(V.Base),
                       Current.Row, LoopDepth, Rarity, Order, 0, 0});
}

/// The running thread keeps \p V in a word of its own storage; 0 unknown.
void FunctionFlow::keepOwn(const Value &V, const MemOperand &M, int64_t At,
                           uint32_t Index) {
  bool IsNull = V.isNumber() && !V.IsAddress && V.isExact() && !V.Base;
  Value Word = Value::threadWord(At, 0);
  if (IsNull || M.Kind != Access::Store || M.Size < 8 ||
      Word.Kind != ValueKind::Pointee)
    return;
  Out->Held.push_back({Code[Index].Ip, uint64_t(Word.Base), placeOf(V),
                       Current.Row, LoopDepth,
                       isFirstUse(M) ? uint8_t(UINT8_MAX) : Rarity, Order,
                       V.isExact() ? 0 : V.givenApart(), 0});
}

/// Is this code come to only by ways that read the same word of the thread's
/// storage before they branched?  A thread finds out that it has none yet.
bool FunctionFlow::isFirstUse(const MemOperand &M) const {
  if (M.Base != NoReg || M.Index != NoReg)
    return false;
  uint32_t At = BlockNumber;
  for (unsigned Step = 0; Step < MaxAsked; ++Step) {
    std::span<const uint32_t> Before = G.predecessors(At);
    if (Before.size() != 1 || Before[0] == At)
      return false;
    At = Before[0];
    const Block &B = G.blocks()[At];
    for (const Op &O : Code.subspan(B.First, B.Last - B.First)) {
      const MemOperand &Read = O.Mem[0];
      if (O.MemCount && Read.Kind == Access::Load && Read.Flags & MemSegment &&
          Read.Size == 8 && Read.Disp == M.Disp && Read.Base == NoReg &&
          Read.Index == NoReg && G.successors(B).size() > 1)
        return M.Flags & MemSegment;
    }
  }
  return false;
}

/// A function's address is stored in the function's own frame, perhaps in a
/// record that a call is handed.
void FunctionFlow::keepOnFrame(const Value &V, int64_t At, uint32_t Index) {
  if (!takesAddress(V) || !functionAt(V))
    return;
  Value Place = Value::frameAt(Current.Row, At);
  if (Place.Kind == ValueKind::Pointee)
    holdIn(V, Place.Base, Index);
}

/// \p V is stored in a record that something leads to.
void FunctionFlow::holdIn(const Value &V, int64_t Place, uint32_t Index) {
  Array Of = arrayOf(V);
  if (uint64_t What = Of.Step ? Of.Place : whatIs(V))
    Out->Held.push_back({Code[Index].Ip, uint64_t(Place), What, Current.Row,
                         LoopDepth, Rarity, Order, 0, Of.Step});
}

/// The same where the record is one of two: a program makes it here or there,
/// as where a container has room for it or not.
void FunctionFlow::holdInEither(const Value &V, const MemOperand &M,
                                uint32_t Index, int64_t Behind) {
  if (!isFollowed(M.Base) || !Now.Regs[M.Base].Choice || M.Flags & MemSegment)
    return;
  Value Whole = Now.Regs[M.Base];
  for (const Value &One : TwoValues(Chosen.of(Whole.Choice))) {
    Now.Regs[M.Base] = One;
    Value Where = effective(M, Index + 1).Where;
    if (Where.Kind == ValueKind::Pointee && Where.isExact())
      holdIn(V, Where.Base + Behind, Index);
  }
  Now.Regs[M.Base] = Whole;
}

/// \p V is stored in one element after another of the array at \p Where, as
/// where a loop makes what it starts threads with.
void FunctionFlow::holdInElements(const Value &V, const MemOperand &M,
                                  const Value &Where, int64_t Behind,
                                  uint32_t Index) {
  uint64_t What = M.Size >= 8 && Where.Stride > 8 ? whatIs(V) : 0;
  if (!What)
    return;
  Value Place = Where;
  Place.Base = wrapAdd(Place.Base, Behind);
  if (Where.Kind == ValueKind::Stack)
    Place = Value::frameAt(Current.Row, Place.Base);
  bool IsStatic = Place.isNumber() && Place.IsAddress && P.inData(Place.Base);
  if (IsStatic || Place.Kind == ValueKind::Pointee)
    Out->Held.push_back({Code[Index].Ip, uint64_t(Place.Base), What,
                         Current.Row, LoopDepth, Rarity, Order, Where.Stride,
                         0});
}

/// The array of which \p V is an element: a loop gives each thread that it
/// starts the next one.  Step 0: it is of none, or of none of which neighbours
/// meet.
FunctionFlow::Array FunctionFlow::arrayOf(const Value &V) const {
  if (V.isNumber() && !V.IsAddress) {
    // Whatever it is, it is where that was made.
    if (V.Step < 2 || V.Step > MaxStep || V.Origin > Code.size() ||
        V.Base < 0 || V.Base > HeldOffsetMask)
      return {};
    Value Begin = Value::pointee(Code[V.Origin - 1].Ip, 0);
    return {uint64_t(Begin.Base | V.Base), V.Step};
  }
  bool IsPlace = V.Kind != ValueKind::Unknown && V.Stride > 1;
  return IsPlace && V.givenApart() <= MaxStep
             ? Array{placeOf(V), V.givenApart()}
             : Array();
}

/// Of two arrays, one of which \p V is of, neighbours are as far apart: the
/// first stands for both.  Anything else as it is.
Value FunctionFlow::firstArray(const Value &V) const {
  if (!V.Choice)
    return V;
  TwoValues Two = Chosen.of(V.Choice);
  uint32_t Step = arrayOf(Two[0]).Step;
  return Step && Step == arrayOf(Two[1]).Step ? Two[0] : V;
}

/// What \p V leads to, an address or a Value of kind Pointee; 0: not known.
uint64_t FunctionFlow::whatIs(const Value &V) const {
  return V.isExact() ? placeOf(V) : 0;
}

/// The same of what \p V leads to at its smallest index.
uint64_t FunctionFlow::placeOf(const Value &V) const {
  if (takesAddress(V) || V.Kind == ValueKind::Pointee)
    return uint64_t(V.Base);
  if (V.Kind == ValueKind::Stack)
    return uint64_t(Value::frameAt(Current.Row, V.Base).Base);
  if (V.Kind == ValueKind::Param && V.Base >= 0 && V.Base <= HeldOffsetMask)
    return uint64_t(Value::wordOf(Current.Row, V.Arg, WholeArgument, 0).Base |
                    V.Base);
  return 0;
}

} // namespace linemate
