//===- Emit.cpp - What a function does with addresses ---------------------===//
//
// Owns the rows: which accesses, calls, arguments and escaping addresses are
// reported, and how.
//
//===----------------------------------------------------------------------===//

#include "Flow.h"

#include <algorithm>
#include <cstring>

namespace linemate {

namespace {

constexpr uint8_t MaxParam = 4;
constexpr int64_t MaxParamOffset = 1 << 20;
constexpr int64_t MaxConstant = 4096;
constexpr int8_t CountReg = 1; // rcx of the repeated string operations

enum UsedFlag : uint8_t { Followed = 1, Called = 2 };

/// Elements further apart than this do not share lines.
uint16_t narrowed(uint32_t Stride) {
  return uint16_t(std::min<uint32_t>(Stride, UINT16_MAX));
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

void FunctionFlow::access(const Op &O, const MemOperand &M,
                          const Effective &E) {
  if (M.Flags & MemSegment) {
    ++Out->Seen.SegmentOperands;
    return;
  }
  const Value &V = E.Where;
  bool IsParam = V.Kind == ValueKind::Param;
  if (!IsParam && (!V.isNumber() || !V.IsAddress))
    return;
  uint8_t Flags = 0;
  uint32_t Size = M.Size, Stride = V.Stride;
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
  if (M.Flags & MemAtomic)
    Flags |= SiteFlag::Atomic;
  if (M.Kind == Access::Store && O.StoredAny != NoReg) {
    Value Stored = reg(O, O.StoredAny);
    if (Stored.isNumber() && !Stored.IsAddress && Stored.isExact() &&
        Stored.Base == 0)
      Flags |= SiteFlag::Clears;
  }
  bool LoadExclusive = M.Flags & MemExclusive && M.Kind == Access::Load;
  if (IsParam) {
    if (V.Arg >= MaxParam || V.Base >= MaxParamOffset ||
        V.Base <= -MaxParamOffset)
      return;
    ParamRow Row = {O.Ip,  V.Base,          Current.Row, Size,     Stride,
                    V.Arg, uint8_t(M.Kind), Flags,       LoopDepth};
    (LoadExclusive ? ExclusiveParams : Out->Params).push_back(Row);
    return;
  }
  // The address of a GOT slot is not the one that this op makes.
  if (V.Origin && !E.Own)
    Used[V.Origin] |= Followed;
  if ((V.isExact() && P.slot(V.Base)) || !P.inData(V.Base))
    return;
  if (!E.Own)
    Flags |= SiteFlag::Tracked;
  SiteRow Row = {
      O.Ip,  uint64_t(V.Base), Current.Row, Size,      narrowed(Stride),
      Order, uint8_t(M.Kind),  Flags,       LoopDepth, Rarity};
  (LoadExclusive ? ExclusiveSites : Out->Sites).push_back(Row);
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
  ZeroRanges::Variable What;
  if (O.Tested == MemReg && O.MemCount)
    What = variableAt(O.Mem[0], E);
  else if (isFollowed(O.Tested) &&
           Now.Regs[O.Tested].Kind == ValueKind::Unknown &&
           Now.Regs[O.Tested].Origin)
    What = Zeros.loadedBy(Now.Regs[O.Tested].Origin - 1);
  Zeros.sees(O, Index, BlockNumber, What);
}

void FunctionFlow::call(const Op &O, uint32_t Index) {
  bool IsCall = O.Next == Flow::Call || O.Next == Flow::IndirectCall;
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
  case Flow::IndirectJump: {
    Value Target;
    if (O.MemCount) {
      Effective E = effective(O.Mem[0], 0);
      if (E.Where.isNumber() && E.Where.IsAddress && E.Where.isExact())
        if (auto Content = P.slot(E.Where.Base))
          Target = Value::address(*Content, 0);
    } else {
      Target = reg(O, O.Src);
      if (Target.IsPage)
        Target = completed(Target, O, Target.Origin);
      else if (O.Imm)
        Target = add(Target, Value::number(O.Imm, 0));
    }
    if (Target.isNumber() && Target.IsAddress && Target.isExact()) {
      Callee = Target.Base;
      Used[Target.Origin] |= Called;
    }
    // What is no switch is a tail call; an index speaks for an unread switch.
    if (!IsCall && !P.startsFunction(Callee) &&
        (G.isSwitch(Index) || (O.MemCount && O.Mem[0].Index != NoReg)))
      return;
    if (!Callee)
      ++Out->Seen.UnknownCalls;
    break;
  }
  default:
    return;
  }
  Holder From = Callee ? Holder() : calledFrom(O, Index);
  Out->Calls.push_back({O.Ip, Callee, Current.Row, LoopDepth, uint8_t(!IsCall),
                        Rarity, Order, uint16_t(From.What),
                        uint32_t(From.Where)});
  arguments(O, Callee);
}

void FunctionFlow::arguments(const Op &O, uint64_t Callee) {
  bool AnyAddress = false;
  size_t Count = 0;
  for (; Count < C.Arguments.size(); ++Count) {
    const Value &V = Now.Regs[C.Arguments[Count]];
    // Left over from the call before: neither this nor a later register is an
    // argument here.
    if (V.IsStale)
      break;
    AnyAddress |= takesAddress(V);
  }
  for (size_t I = 0; I < Count; ++I) {
    const Value &V = Now.Regs[C.Arguments[I]];
    ArgRow Row = {O.Ip,       Callee, V.Base, Current.Row,
                  uint8_t(I), 0,      0,      LoopDepth};
    if (takesAddress(V)) {
      Row.Kind = uint8_t(ArgKind::Address);
      if (uint64_t Function = functionAt(V))
        Row.Value = int64_t(Function);
      Row.Source = uint8_t(std::min<uint32_t>(V.Stride, UINT8_MAX));
      escape(V);
    } else if (V.Kind == ValueKind::Param && V.isExact() && V.Arg < MaxParam &&
               V.Base > -MaxParamOffset && V.Base < MaxParamOffset) {
      Row.Kind = uint8_t(ArgKind::Param);
      Row.Source = V.Arg;
    } else if (V.isNumber() && !V.IsAddress && V.isExact() &&
               (AnyAddress ||
                (V.Base < MaxConstant && V.Base > -MaxConstant))) {
      Row.Kind = uint8_t(ArgKind::Constant);
    } else {
      continue;
    }
    Out->Args.push_back(Row);
  }
}

/// Op \p Index makes the address \p V.
void FunctionFlow::made(uint32_t Index, const Value &V) {
  if (takesAddress(V))
    Made.push_back({Index + 1, V});
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
  for (const Escape &M : Made) {
    bool IsFunction = !P.inData(M.What.Base);
    bool IsTaken = IsFunction && !(Used[M.Origin] & Called);
    if (IsTaken)
      Out->AddressTaken.push_back(functionAt(M.What));
    if (IsTaken && !(Used[M.Origin] & Followed))
      Out->Kept.push_back({Ops[M.Origin - 1].Ip, functionAt(M.What),
                           Current.Row, 0, uint8_t(Place::Unknown), 0, 0, 0});
    // An address that was made and not seen again went somewhere that is not
    // followed: a comparison, a vector register, a value that two paths join.
    // A function's is stored or handed over.
    if (IsFunction ? IsTaken : !Used[M.Origin])
      Escapes.push_back(M);
  }
  std::sort(Escapes.begin(), Escapes.end(),
            [](const Escape &A, const Escape &B) {
              if (A.Origin != B.Origin)
                return A.Origin < B.Origin;
              if (A.What.Base != B.What.Base)
                return A.What.Base < B.What.Base;
              return A.What.Stride < B.What.Stride;
            });
  auto Same = [](const Escape &A, const Escape &B) {
    return A.Origin == B.Origin && A.What.Base == B.What.Base &&
           A.What.Stride == B.What.Stride;
  };
  Escapes.erase(std::unique(Escapes.begin(), Escapes.end(), Same),
                Escapes.end());
  std::span<const Block> Blocks = G.blocks();
  for (const Escape &E : Escapes) {
    uint32_t Index = E.Origin - 1;
    auto B = std::upper_bound(
        Blocks.begin(), Blocks.end(), Index,
        [](uint32_t I, const Block &Later) { return I < Later.First; });
    uint8_t Flags = E.What.Stride ? SiteFlag::Indexed : 0;
    uint64_t Function = functionAt(E.What);
    uint64_t Target = Function ? Function : uint64_t(E.What.Base);
    Out->Sites.push_back({Ops[Index].Ip, Target, Current.Row, 0,
                          narrowed(E.What.Stride), (B - 1)->Order,
                          uint8_t(Access::Address), Flags, (B - 1)->LoopDepth,
                          (B - 1)->Rarity});
  }
  // A load exclusive is the first half of the rmw that its store reports.
  for (const SiteRow &Load : ExclusiveSites) {
    bool Paired = std::any_of(
        Out->Sites.begin(), Out->Sites.end(), [&](const SiteRow &S) {
          return S.Target == Load.Target && S.Function == Load.Function &&
                 S.Kind == uint8_t(Access::Rmw);
        });
    if (!Paired)
      Out->Sites.push_back(Load);
  }
  for (const ParamRow &Load : ExclusiveParams) {
    bool Paired = std::any_of(
        Out->Params.begin(), Out->Params.end(), [&](const ParamRow &S) {
          return S.Arg == Load.Arg && S.Offset == Load.Offset &&
                 S.Function == Load.Function && S.Kind == uint8_t(Access::Rmw);
        });
    if (!Paired)
      Out->Params.push_back(Load);
  }
}

} // namespace linemate
