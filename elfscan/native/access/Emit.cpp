//===- Emit.cpp - What a function does with addresses ---------------------===//
//
// Owns the rows: which accesses, calls, arguments and escaping addresses are
// reported, and how.
//
//===----------------------------------------------------------------------===//

#include "Flow.h"

#include <algorithm>
#include <cstring>
#include <tuple>

namespace linemate {

namespace {

constexpr uint8_t MaxParam = 4;
constexpr int64_t MaxParamOffset = 1 << 20;
constexpr int64_t MaxConstant = 4096;
/// Words behind an argument that are told: a pointer to a method has two.
constexpr int64_t PassedWords = 2;
/// The same of functions: a std::function has two words of what it holds, and
/// behind these who copies that and who calls it.
constexpr int64_t CallableWords = 4;
constexpr int8_t CountReg = 1; // rcx of the repeated string operations

enum UsedFlag : uint8_t { Followed = 1, Called = 2 };

/// Elements further apart than this do not share lines.
uint16_t narrowed(uint32_t Stride) {
  return uint16_t(std::min<uint32_t>(Stride, UINT16_MAX));
}

/// Adds loads exclusive that are not the first half of an rmw, which the store
/// behind them reports.
template <typename Row, typename AreSame>
void addUnpaired(const std::vector<Row> &Loads, std::vector<Row> &Rows,
                 AreSame SameBytes) {
  for (const Row &Load : Loads) {
    bool IsHalf = std::ranges::any_of(Rows, [&](const Row &Other) {
      return Other.Kind == uint8_t(Access::Rmw) &&
             Other.Function == Load.Function && SameBytes(Other, Load);
    });
    if (!IsHalf)
      Rows.push_back(Load);
  }
}

} // namespace

/// Whether \p V is an address that the tables speak of.
bool FunctionFlow::takesAddress(const Value &V) const {
  return V.isNumber() && V.IsAddress && !V.IsPage &&
         (P.inData(V.Base) || functionAt(V));
}

/// The function whose address \p V is, or that it stands for; 0 none.
uint64_t FunctionFlow::functionAt(const Value &V) const {
  if (!V.isExact())
    return 0;
  if (P.startsFunction(V.Base))
    return V.Base;
  if (!C.FunctionsByWord)
    return 0;
  std::span<const uint8_t> Word = P.constantsAt(V.Base);
  uint64_t Function = 0;
  if (Word.size() < sizeof Function)
    return 0;
  std::memcpy(&Function, Word.data(), sizeof Function);
  return P.startsFunction(Function) ? Function : 0;
}

/// The number above zero that an operand receives, where it is a small one.
uint8_t FunctionFlow::smallStored(const Op &O, const MemOperand &M) const {
  int8_t From = M.Kind == Access::Store ? O.StoredAny
                : M.Kind == Access::Rmw ? O.Swapped
                                        : NoReg;
  if (From == NoReg)
    return 0;
  Value Stored = reg(O, From);
  bool IsSmall = Stored.isNumber() && !Stored.IsAddress && Stored.isExact() &&
                 Stored.Base > 0 && Stored.Base <= UINT8_MAX;
  return IsSmall ? uint8_t(Stored.Base) : 0;
}

void FunctionFlow::access(const Op &O, const MemOperand &M,
                          const Effective &E) {
  if (M.Flags & MemSegment) {
    ++Out->Seen.SegmentOperands;
    return;
  }
  const Value &V = E.Where;
  if (V.fromThreadPointer())
    return;
  bool IsParam = V.Kind == ValueKind::Param;
  bool IsBehind = V.Kind == ValueKind::Pointee;
  // What is added to a pointer that is not known makes a series of it.
  bool IsUnknown = P.Elsewhere && (V.Kind == ValueKind::Unknown ||
                                   (V.isNumber() && !V.IsAddress && V.Stride));
  if (!IsParam && !IsBehind && !IsUnknown && (!V.isNumber() || !V.IsAddress))
    return;
  uint8_t Flags = 0;
  uint32_t Size = M.Size, Stride = IsBehind ? V.givenApart() : V.apart();
  if (M.Flags & MemRepeated) {
    // With a known count the bytes are known.
    const Value &Count = Now.Regs[CountReg];
    if (Count.isNumber() && Count.isExact() && Count.Base > 0 &&
        Count.Base <= INT32_MAX / std::max<int64_t>(M.Size, 1))
      Size = M.Size * uint32_t(Count.Base);
    else
      Stride = 1;
  }
  if (Stride)
    Flags |= SiteFlag::Indexed;
  if (Stride && V.IsOwn)
    Flags |= SiteFlag::Own;
  if (IsBehind && V.Stride && V.IsGiven)
    Flags |= SiteFlag::Given;
  if (M.Flags & MemAtomic)
    Flags |= SiteFlag::Atomic;
  if (M.Kind == Access::Store && O.StoredAny != NoReg) {
    Value Stored = reg(O, O.StoredAny);
    if (Stored.isNumber() && !Stored.IsAddress && Stored.isExact() &&
        Stored.Base == 0)
      Flags |= SiteFlag::Clears;
  }
  // What is exchanged for zero.
  if (M.Kind == Access::Rmw && isFollowed(O.Swapped) &&
      swapped(O, wordAt(M, E)) == 0)
    Flags |= SiteFlag::Clears;
  if (changesBits(O, M))
    Flags |= SiteFlag::Bitmap;
  auto Kind = uint8_t(kindOf(O, M));
  bool LoadExclusive = M.Flags & MemExclusive && M.Kind == Access::Load;
  // What a store exclusive ends is one access, that one's.
  if ((IsUnknown || (P.Elsewhere && (IsParam || IsBehind))) && !LoadExclusive)
    Out->Behind.push_back({O.Ip, uint64_t(HeldBit), Current.Row, Size, 0, Order,
                           Kind, Flags, LoopDepth, Rarity});
  if (IsUnknown)
    return;
  if (IsParam) {
    if (V.Arg >= MaxParam || V.Base >= MaxParamOffset ||
        V.Base <= -MaxParamOffset)
      return;
    ParamRow Row = {O.Ip,  V.Base, Current.Row, Size,  narrowed(Stride),
                    Order, V.Arg,  Kind,        Flags, LoopDepth,
                    Rarity};
    (LoadExclusive ? ExclusiveParams : Out->Params).push_back(Row);
    return;
  }
  if (IsBehind) {
    SiteRow Row = {O.Ip,
                   uint64_t(V.Base),
                   Current.Row,
                   Size,
                   narrowed(Stride),
                   Order,
                   Kind,
                   Flags,
                   LoopDepth,
                   Rarity};
    (LoadExclusive ? ExclusiveBehind : Out->Behind).push_back(Row);
    return;
  }
  // The address of a GOT slot is not the one that this op makes.
  if (V.Origin && !E.Own)
    Used[V.Origin] |= Followed;
  if ((V.isExact() && P.slot(V.Base)) || !P.inData(V.Base))
    return;
  if (!E.Own)
    Flags |= SiteFlag::Tracked;
  if (Flags & SiteFlag::Indexed && V.IsGiven && !V.IsOwn && !V.IsGivenTwice &&
      V.Stride && V.OwnStride > V.Stride) {
    Stride = V.OwnStride;
    Flags |= SiteFlag::Row;
  }
  if (V.isExact() && !Stride && M.Size <= 8)
    if (uint8_t Number = smallStored(O, M))
      Out->ZeroRanges.push_back({uint64_t(V.Base), O.Ip, O.end(), Current.Row,
                                 uint16_t(M.Size), uint8_t(ZeroRange::Sets),
                                 Number});
  SiteRow Row = {
      O.Ip,  uint64_t(V.Base), Current.Row, Size, narrowed(Stride), Order, Kind,
      Flags, LoopDepth,        Rarity};
  (LoadExclusive ? ExclusiveSites : Out->Sites).push_back(Row);
}

/// What an operand does, where an exchange of which nobody asks what was there
/// is how x86-64 stores in order.
Access FunctionFlow::kindOf(const Op &O, const MemOperand &M) const {
  if (M.Kind != Access::Rmw || P.Machine != Arch::X86_64)
    return M.Kind;
  auto At = uint32_t(&O - Code.data());
  return G.onlyStores(Code, At, C) ? Access::Store : M.Kind;
}

/// Is the memory a word of a set of bits, of which code chooses one by number?
bool FunctionFlow::changesBits(const Op &O, const MemOperand &M) const {
  if (M.Flags & MemImplicit)
    return false;
  if (M.Kind == Access::Store)
    return reg(O, O.StoredAny).Bits == BitRole::Changed;
  return M.Kind == Access::Rmw && O.BitsTo == NoReg &&
         bitsOf(O) == BitRole::Changed;
}

/// What a memory operand names, where that is one variable.
ZeroRanges::Variable FunctionFlow::variableAt(const MemOperand &M,
                                              const Effective &E) const {
  const Value &V = E.Where;
  bool IsOne = V.isNumber() && V.IsAddress && V.isExact() &&
               !(M.Flags & (MemSegment | MemRepeated)) && M.Size <= 8 &&
               P.inData(V.Base) && !P.slot(V.Base);
  return IsOne ? ZeroRanges::Variable{uint64_t(V.Base), M.Size}
               : ZeroRanges::Variable();
}

void FunctionFlow::zeroTest(const Op &O, uint32_t Index, const Effective &E) {
  if (O.How == Transfer::Load && O.Second == NoReg)
    if (auto From = variableAt(O.Mem[0], E); From.Size)
      Zeros.loads(Index, From);
  if (O.MemCount &&
      (O.Mem[0].Kind == Access::Store || O.Mem[0].Kind == Access::Rmw))
    if (auto To = variableAt(O.Mem[0], E); To.Size)
      Zeros.stores(BlockNumber, To);
  ZeroRanges::Variable What;
  if (O.Tested == MemReg && O.MemCount)
    What = variableAt(O.Mem[0], E);
  else if (isFollowed(O.Tested) && Now.Regs[O.Tested].isLoaded() &&
           Now.Regs[O.Tested].Origin)
    What = Zeros.loadedBy(Now.Regs[O.Tested].Origin - 1);
  Zeros.sees(O, Index, BlockNumber, What);
  if (Waits.isNeeded())
    waitTest(O, Index, E);
}

/// Where an indirect call or jump leads.
Value FunctionFlow::target(const Op &O) const {
  if (!O.MemCount) {
    Value To = reg(O, O.Src);
    if (To.IsPage)
      return completed(To, O, To.Origin);
    return O.Imm ? add(To, Value::number(O.Imm, 0)) : To;
  }
  Value At = effective(O.Mem[0], 0).Where;
  if (At.isNumber() && At.IsAddress && At.isExact())
    if (auto Content = P.slot(At.Base))
      return Value::address(*Content, 0);
  return {};
}

void FunctionFlow::call(const Op &O, uint32_t Index) {
  uint64_t Callee = 0;
  switch (O.Next) {
  case Flow::Call:
    Callee = O.Imm;
    break;
  case Flow::Branch:
  case Flow::Jump:
    ++Out->Seen.Branches;
    if (uint64_t(O.Imm) - Current.Begin < Current.End - Current.Begin)
      return;
    if (!P.startsFunction(O.Imm)) {
      ++Out->Seen.OutsideBranches;
      return;
    }
    Callee = O.Imm;
    break;
  case Flow::IndirectCall:
  case Flow::IndirectJump:
    if (callsDescriptor(O))
      return;
    if (Value To = target(O); To.isNumber() && To.IsAddress && To.isExact()) {
      Callee = To.Base;
      Used[To.Origin] |= Called;
    }
    // What is no switch is a tail call; an index speaks for an unread switch.
    if (!O.isCall() && !P.startsFunction(Callee) &&
        (G.isSwitch(Index) || (O.MemCount && O.Mem[0].Index != NoReg)))
      return;
    if (!Callee)
      ++Out->Seen.UnknownCalls;
    break;
  default:
    return;
  }
  Holder From = Callee ? Holder{SlotKind::Unknown, int64_t(O.end() - O.Ip)}
                       : calledFrom(O, Index);
  auto Handed = uint8_t(Callee ? 0 : argumentsAtMost() + 1);
  Out->Calls.push_back({O.Ip, Callee, Current.Row, LoopDepth,
                        uint8_t(!O.isCall()), Rarity, Order, uint8_t(From.What),
                        Handed, uint32_t(From.Where)});
  arguments(O, Callee, Index);
}

void FunctionFlow::arguments(const Op &O, uint64_t Callee, uint32_t Index) {
  bool AnyAddress = false, AnyFunction = false;
  bool Starts = std::ranges::binary_search(P.HandleWriters, Callee);
  // What starts a thread is handed an entry in any case.
  size_t Count = Starts ? C.Arguments.size() : argumentsAtMost();
  for (size_t I = 0; I < Count; ++I)
    eachOf(Now.Regs[C.Arguments[I]], [&](const Value &One) {
      AnyAddress |= takesAddress(One);
      AnyFunction |= One.isNumber() && One.IsAddress && functionAt(One);
    });
  bool Naps = std::ranges::binary_search(P.Sleepers, Callee);
  for (size_t I = 0; I < Count; ++I) {
    Value V = firstArray(Now.Regs[C.Arguments[I]]);
    if (Starts)
      loadedArgument(V, uint8_t(I), {O.Ip, Callee}, Index);
    if (Callee && V.Kind == ValueKind::Stack && V.isExact())
      passWords(V.Base, uint8_t(I), O.Ip);
    if (Naps && V.Kind == ValueKind::Stack && V.isExact())
      Sleeps.slept(V.Base,
                   {O.Ip, Callee, 0, Current.Row, uint8_t(I), 0, 0, LoopDepth},
                   Order);
    eachOf(V, [&](const Value &One) {
      bool IsOnlyThat = !V.Choice || !Choices::isNull(One);
      if (IsOnlyThat)
        argument(
            One,
            {O.Ip, Callee, One.Base, Current.Row, uint8_t(I), 0, 0, LoopDepth},
            AnyAddress, AnyFunction);
    });
  }
}

/// One argument of a call, or what it may be; \p Row says which.
void FunctionFlow::argument(const Value &V, ArgRow Row, bool AnyAddress,
                            bool AnyFunction) {
  if (takesAddress(V)) {
    Row.Kind = uint8_t(ArgKind::Address);
    if (uint64_t Function = functionAt(V))
      Row.Value = int64_t(Function);
    Row.Source = uint8_t(std::min<uint32_t>(V.apart(), UINT8_MAX));
    if (Known && Known->outlined(Row.Callee) && V.Origin && P.inData(V.Base)) {
      // It is used there and goes no further.
      Used[V.Origin] |= Followed;
      reportAddress(V, Row.Ip, G.blocks()[BlockNumber]);
    } else {
      escape(V);
    }
  } else if (V.Kind == ValueKind::Param && V.isExact() && V.Arg < MaxParam &&
             V.Base > -MaxParamOffset && V.Base < MaxParamOffset) {
    Row.Kind = uint8_t(ArgKind::Param);
    Row.Source = V.Arg;
  } else if (V.Kind == ValueKind::Pointee &&
             (V.isExact() || AnyFunction ||
              (Row.Callee && V.givenApart() && V.givenApart() < UINT8_MAX))) {
    Row.Kind = uint8_t(ArgKind::Address);
    Row.Source = uint8_t(std::min<uint32_t>(V.givenApart(), UINT8_MAX));
    Out->BehindArgs.push_back(Row);
    return;
  } else if (V.Kind == ValueKind::Stack && AnyFunction) {
    // What a function is handed to be called with.
    Value In = Value::frameAt(Current.Row, V.Base);
    if (In.Kind != ValueKind::Pointee)
      return;
    Row.Kind = uint8_t(ArgKind::Address);
    Row.Value = In.Base;
    Row.Source = uint8_t(std::min<uint32_t>(V.Stride, UINT8_MAX));
    Out->BehindArgs.push_back(Row);
    return;
  } else if (Array Of = arrayOf(V);
             !V.IsAddress && V.isNumber() && AnyFunction && Of.Step) {
    Row.Kind = uint8_t(ArgKind::Address);
    Row.Value = int64_t(Of.Place);
    Row.Source = uint8_t(Of.Step);
    Out->BehindArgs.push_back(Row);
    return;
  } else if (V.isNumber() && !V.IsAddress && V.isExact() &&
             (AnyAddress || (V.Base < MaxConstant && V.Base > -MaxConstant))) {
    Row.Kind = uint8_t(ArgKind::Constant);
  } else {
    return;
  }
  Out->Args.push_back(Row);
}

/// What the first words are of what argument \p Arg of a call leads to, which
/// is at an offset in the frame.
void FunctionFlow::passWords(int64_t Offset, uint8_t Arg, uint64_t Ip) {
  auto It = std::ranges::lower_bound(Now.Slots, Offset, {}, &Slot::Offset);
  for (; It != Now.Slots.end() && It->Offset < Offset + CallableWords * 8;
       ++It) {
    Value V = firstArray(It->Content);
    if (It->Offset >= Offset + PassedWords * 8 &&
        !(takesAddress(V) && functionAt(V)))
      continue;
    Array Of = arrayOf(V);
    uint64_t What = Of.Step ? Of.Place : whatIs(V);
    if (!What || It->Size != 8 || (It->Offset - Offset) % 8)
      continue;
    Value Place =
        Value::wordOf(Current.Row, Arg, uint64_t(It->Offset - Offset) / 8, 0);
    Out->Held.push_back({Ip, uint64_t(Place.Base), What, Current.Row, LoopDepth,
                         Rarity, Order, 0, Of.Step});
  }
}

/// Op \p Index makes the address \p V.
void FunctionFlow::made(uint32_t Index, const Value &V) {
  if (takesAddress(V))
    Made.push_back({Index + 1, V});
}

/// The address that op \p Index makes, as its result or on its way.
void FunctionFlow::madeBy(const Op &O, uint32_t Index, const Value &Result,
                          const Effective &E) {
  uint32_t Origin = Index + 1;
  if (isFollowed(O.Dst)) {
    if (Result.Origin == Origin)
      made(Index, Result);
  } else if (O.ImmIsValue && O.Stored != ImmReg) {
    made(Index, literal(O.Imm, Origin));
  } else if (O.MemCount && O.Next == Flow::Next) {
    // A slot's content that is compared or pushed.
    if (Value V = loaded(O, E, Origin); V.Origin == Origin)
      made(Index, V);
  }
}

/// \p V gets out of the function's sight.
void FunctionFlow::escape(const Value &V) {
  if (!takesAddress(V) || !V.Origin)
    return;
  Used[V.Origin] |= Followed;
  if (P.inData(V.Base))
    Escapes.push_back({V.Origin, V});
}

void FunctionFlow::finish(std::span<const Op> Ops) {
  Waits.finish(G, Ops, Current.Row, Out->ZeroRanges);
  useMade(Ops);
  sortEscapes();
  for (const Escape &E : Escapes)
    reportEscape(E, Ops);
  addUnpaired(
      ExclusiveSites, Out->Sites,
      [](const SiteRow &A, const SiteRow &B) { return A.Target == B.Target; });
  addUnpaired(
      ExclusiveBehind, Out->Behind,
      [](const SiteRow &A, const SiteRow &B) { return A.Target == B.Target; });
  addUnpaired(ExclusiveParams, Out->Params,
              [](const ParamRow &A, const ParamRow &B) {
                return A.Arg == B.Arg && A.Offset == B.Offset;
              });
}

/// What became of the addresses that were made.
void FunctionFlow::useMade(std::span<const Op> Ops) {
  for (const Escape &M : Made) {
    bool IsFunction = !P.inData(M.What.Base);
    bool IsTaken = IsFunction && !(Used[M.Origin] & Called);
    if (IsTaken)
      Out->AddressTaken.push_back(functionAt(M.What));
    if (IsTaken && !(Used[M.Origin] & Followed))
      Out->Kept.push_back({Ops[M.Origin - 1].Ip, functionAt(M.What),
                           Current.Row, 0, uint8_t(SlotKind::Unknown), 0, 0,
                           0});
    // An address that was made and not seen again went somewhere that is not
    // followed: a comparison, a vector register, a value that two paths join.
    // A function's is stored or handed over.
    if (IsFunction ? IsTaken : !Used[M.Origin])
      Escapes.push_back(M);
  }
}

/// Each once, in the order of the code.
void FunctionFlow::sortEscapes() {
  auto Key = [](const Escape &E) {
    return std::tuple(E.Origin, E.What.Base, E.What.Stride);
  };
  std::ranges::sort(Escapes, {}, Key);
  auto Again = std::ranges::unique(Escapes, {}, Key);
  Escapes.erase(Again.begin(), Again.end());
}

void FunctionFlow::reportEscape(const Escape &E, std::span<const Op> Ops) {
  uint32_t Index = E.Origin - 1;
  const Block &B = *std::prev(
      std::ranges::upper_bound(G.blocks(), Index, {}, &Block::First));
  reportAddress(E.What, Ops[Index].Ip, B);
}

void FunctionFlow::reportAddress(const Value &V, uint64_t Ip, const Block &B) {
  uint8_t Flags = V.Stride ? SiteFlag::Indexed : 0;
  uint64_t Function = functionAt(V);
  uint64_t Target = Function ? Function : uint64_t(V.Base);
  Out->Sites.push_back({Ip, Target, Current.Row, 0, narrowed(V.Stride), B.Order,
                        uint8_t(Access::Address), Flags, B.LoopDepth,
                        B.Rarity});
}

} // namespace linemate
