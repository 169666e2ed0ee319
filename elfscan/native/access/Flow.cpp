//===- Flow.cpp - The data flow of one function ---------------------------===//
//
// Owns the fixpoint: what each op does to registers and stack slots.  What is
// reported of it is in Emit.cpp.
//
//===----------------------------------------------------------------------===//

#include "Flow.h"

#include <algorithm>
#include <bit>

namespace linemate {

namespace {

/// A block that is still changing after this many visits gets no values.
constexpr uint8_t MaxVisits = 24;
/// Stack bytes above an exposed address that a callee may change.
constexpr int64_t ExposedBytes = 64;
/// Bytes of what stands for a thread.
constexpr int64_t HandleBytes = 8;
constexpr unsigned MaxReruns = 2;

/// RISC-V copies by adding 0.
bool isCopy(const Op &O) {
  return O.How == Transfer::Move || (O.How == Transfer::Add && O.Imm == 0 &&
                                     O.Src2 == NoReg && O.Width == 8);
}

bool overlaps(const Slot &S, int64_t Offset, int64_t Size) {
  return S.Offset < Offset + Size && Offset < S.Offset + S.Size;
}

} // namespace

void FunctionFlow::run(const Piece &What, std::span<const Op> Ops,
                       Tables &Tables) {
  Current = What;
  Code = Ops;
  Returned = Returns::Nothing;
  OneResult = Value();
  HasResult = false;
  OneGiven = Value();
  MadeHere = NewObject::Unseen;
  Out = &Tables;
  G.build(P, Ops, What.Begin, What.End, C, Out->Seen);
  Exposed.clear();
  Spilled.clear();
  Chosen.clear();
  Counters.fill({});
  if (AnyRaised)
    Raised.fill(Up());
  AnyRaised = false;
  solve(Ops);
  // A stack address that gets out late may be why a slot changed early.
  for (unsigned Run = 0; Run < MaxReruns && exposesSpills(); ++Run) {
    size_t Before = Exposed.size();
    solve(Ops);
    if (Exposed.size() == Before)
      break;
  }
  Emitting = true;
  Used.assign(Ops.size() + 1, 0);
  Made.clear();
  Escapes.clear();
  ExclusiveSites.clear();
  ExclusiveParams.clear();
  ExclusiveBehind.clear();
  Zeros.clear();
  Waits.start(G);
  Sleeps.clear();
  Spins.start(Ops, callsOutlined(Ops));
  size_t Sites = Out->Sites.size(), Params = Out->Params.size();
  size_t Calls = Out->Calls.size(), Behind = Out->Behind.size();
  std::span<const Block> Blocks = G.blocks();
  for (size_t B = 0; B < Blocks.size(); ++B) {
    copyRegs(In[B].Regs, Now.Regs);
    Now.Slots = In[B].Slots;
    LoopDepth = Blocks[B].depth();
    Rarity = Blocks[B].Rarity;
    Order = Blocks[B].Order;
    BlockNumber = B;
    walk(Blocks[B], Ops);
  }
  finish(Ops);
  Sleeps.finish(Out->Args);
  placeBlocks({Sites, Calls, Params, Behind});
  Zeros.finish(G, Ops, What.Row, Out->ZeroRanges);
  Spins.finish(G, Ops, What.Row, Out->ZeroRanges);
  std::sort(Out->Sites.begin() + Sites, Out->Sites.end());
  std::sort(Out->Params.begin() + Params, Out->Params.end());
  std::sort(Out->Behind.begin() + Behind, Out->Behind.end());
  Emitting = false;
}

/// Only the registers that the architecture has: this is a hot path.
void FunctionFlow::copyRegs(const Registers &From, Registers &To) const {
  std::copy_n(From.begin(), C.Registers, To.begin());
}

void FunctionFlow::enter(Entry &To) {
  To.Regs.fill(Value());
  To.Regs[C.StackPointer] = Value::stack(0);
  To.Slots.clear();
  if (Current.IsEntry)
    for (size_t I = 0; I < C.Arguments.size(); ++I)
      To.Regs[C.Arguments[I]] = I == 1 && Second ? Value::number(*Second, 0)
                                                 : Value::param(uint8_t(I));
}

void FunctionFlow::solve(std::span<const Op> Ops) {
  std::span<const Block> Blocks = G.blocks();
  if (In.size() < Blocks.size())
    In.resize(Blocks.size());
  for (size_t B = 0; B < Blocks.size(); ++B) {
    In[B].Reached = In[B].Dirty = In[B].Walked = false;
    In[B].Visits = 0;
  }
  for (size_t B = 0; B < Blocks.size(); ++B) {
    if (B != 0 && (Blocks[B].HasPredecessor || Blocks[B].IsKeyed))
      continue;
    // Landing pads and unread switches: nothing is known there.
    In[B].Regs.fill(Value());
    In[B].Slots.clear();
    In[B].Reached = In[B].Dirty = true;
    if (B == 0)
      enter(In[B]);
  }
  propagate(Ops, 0);
  for (size_t B = 0; B < Blocks.size(); ++B) {
    if (In[B].Reached)
      continue;
    In[B].Regs.fill(Value());
    In[B].Slots.clear();
    In[B].Reached = In[B].Dirty = true;
    propagate(Ops, B);
  }
}

void FunctionFlow::propagate(std::span<const Op> Ops, size_t From) {
  std::span<const Block> Blocks = G.blocks();
  size_t Low = From;
  while (Low < Blocks.size()) {
    size_t Next = Blocks.size(), B = Low;
    size_t High = B + 1;
    // One sweep upwards, as far as it makes work; what it makes below waits
    // for the next.
    for (; B < High && B < Blocks.size(); ++B) {
      if (!In[B].Dirty)
        continue;
      In[B].Dirty = false;
      In[B].Walked = true;
      copyRegs(In[B].Regs, Now.Regs);
      Now.Slots = In[B].Slots;
      Opened.clear();
      LoopDepth = Blocks[B].depth();
      walk(Blocks[B], Ops);
      for (uint32_t To : G.successors(Blocks[B]))
        if (merge(In[To], Now))
          Opened.push_back(To);
      for (uint32_t To : Opened) {
        In[To].Dirty = true;
        if (To <= B)
          Next = std::min<size_t>(Next, To);
        else
          High = std::max<size_t>(High, To + 1);
      }
    }
    // Roots that wait above this sweep.
    if (From == 0)
      while (B < Next && B < Blocks.size() && !In[B].Dirty)
        ++B;
    Low = std::min(Next, From == 0 ? B : Next);
  }
}

/// Joins \p From into a block's entry values.  True when they changed.
bool FunctionFlow::merge(Entry &To, const State &From) {
  if (!To.Reached) {
    copyRegs(From.Regs, To.Regs);
    To.Slots = From.Slots;
    To.Reached = true;
    return true;
  }
  if (To.Visits > MaxVisits)
    return false;
  bool Changed = false;
  for (unsigned R = 0; R < C.Registers; ++R) {
    const Value &Old = To.Regs[R], &New = From.Regs[R];
    if (Old.isIdentical(New))
      continue;
    if (Old.Kind == ValueKind::Unknown && !Old.Choice &&
        Old.IsStale >= New.IsStale && Old.IsOwn <= New.IsOwn &&
        Old.IsGiven <= (New.IsGiven && !To.Walked) && Old.Bits <= New.Bits &&
        !(To.Walked && mayMoveInRounds(Old, New) && movedInRounds(Old, New)))
      continue;
    Value V = join(Old, New, To.Walked);
    if (!V.IsStale)
      V = eitherOf(V, Old, New, To.Walked);
    if (V.same(Old) && V.sameMarks(Old))
      continue;
    To.Regs[R] = V;
    Changed = true;
  }
  auto Theirs = From.Slots.begin();
  auto Kept = To.Slots.begin();
  for (Slot &S : To.Slots) {
    while (Theirs != From.Slots.end() && Theirs->Offset < S.Offset)
      ++Theirs;
    bool IsOfBoth = Theirs != From.Slots.end() && Theirs->Offset == S.Offset;
    if (IsOfBoth && S.Content.isIdentical(Theirs->Content)) {
      S.Content.OwnStride = S.Content.givenApart();
      if (&*Kept != &S)
        *Kept = S;
      ++Kept;
      continue;
    }
    Value V;
    if (IsOfBoth)
      V = eitherOf(join(S.Content, Theirs->Content, To.Walked), S.Content,
                   Theirs->Content, To.Walked);
    Changed |= !V.same(S.Content) || !V.sameMarks(S.Content);
    if (V.isNothing())
      continue;
    *Kept++ = {S.Offset, V, S.Size};
  }
  To.Slots.erase(Kept, To.Slots.end());
  if (Changed && ++To.Visits > MaxVisits) {
    To.Regs.fill(Value());
    To.Slots.clear();
    ++Out->Seen.GaveUp;
  }
  return Changed;
}

void FunctionFlow::walk(const Block &B, std::span<const Op> Ops) {
  BlockFirst = B.First;
  for (uint32_t I = B.First; I < B.Last; ++I) {
    step(Ops[I], I);
    if (Ops[I].Rare && !Emitting)
      open(I);
  }
}

/// What is known behind the branch of a key at the op is known where it leads.
void FunctionFlow::open(uint32_t Op) {
  std::span<const KeyedBlock> Keyed = G.keyed();
  for (auto It = std::ranges::lower_bound(Keyed, Op, {}, &KeyedBlock::Op);
       It != Keyed.end() && It->Op == Op; ++It)
    if (merge(In[It->Block], Now))
      Opened.push_back(It->Block);
}

void FunctionFlow::step(const Op &O, uint32_t Index) {
  uint32_t Origin = Index + 1;
  Effective E[2];
  for (unsigned I = 0; I < O.MemCount && I < std::size(E); ++I) {
    E[I] = effective(O.Mem[I], Origin);
    // Code that reads what is there knows that the call before left it alone.
    if (isFollowed(O.Mem[I].Base))
      Now.Regs[O.Mem[I].Base].IsStale = false;
    if (!Emitting || O.Mem[I].Kind == Access::None)
      continue;
    if (isFollowed(O.Mem[I].Base) && Now.Regs[O.Mem[I].Base].Choice)
      accessEither(O, O.Mem[I], Origin);
    else
      access(O, O.Mem[I], E[I]);
  }
  if (Emitting && O.Next != Flow::Next)
    call(O, Index);
  if (Emitting)
    zeroTest(O, Index, E[0]);
  if (Emitting && Spins.isNeeded())
    spinTest(O, Index, E[0]);
  Value Result = computed(O, Origin, E);
  if (!Chosen.isEmpty())
    Result = computedOfEither(O, Origin, Result);
  BitRole Bits = O.Bits == BitWork::None ? BitRole::None : bitsOf(O);
  if (O.Width == 4 && O.How != Transfer::Load && O.How != Transfer::Extend)
    Result = inHalf(O, Result);
  if (Result.isOpaque() && Result.Origin == 0) {
    // The same unknown in each register that it is copied to.
    Result.Origin = Origin;
    if (isCopy(O) && isFollowed(O.Src) && Now.Regs[O.Src].isOpaque())
      Now.Regs[O.Src].Origin = Origin;
  }
  bool TakesNumber = takesNumber(O);
  noteCounter(O, E[0], Origin);
  Value Second;
  if (O.Second != NoReg) {
    Effective Next = E[0];
    Next.Where.Base += 8;
    Op Half = O;
    Half.Mem[0].Size = 8;
    Result = loaded(Half, E[0], Origin);
    Second = loaded(Half, Next, Origin);
  }
  for (unsigned I = 0; I < O.MemCount && I < std::size(E); ++I)
    if (O.Mem[I].Kind == Access::Store || O.Mem[I].Kind == Access::Rmw) {
      markCounted(O, E[I], Origin);
      store(O, O.Mem[I], E[I], I == O.StoredTo, Origin);
    }
  for (uint32_t Left = O.Clobbers; Left; Left &= Left - 1)
    Now.Regs[std::countr_zero(Left)] = Value();
  if (O.MemCount) // what was in memory before
    for (int8_t Old : {O.Swapped, O.Added})
      if (isFollowed(Old))
        Now.Regs[Old].Origin = Origin;
  if (TakesNumber)
    Now.Regs[O.Added].IsGiven = true;
  if (isFollowed(O.Written))
    Now.Regs[O.Written] =
        O.Step ? add(Now.Regs[O.Written], Value::number(O.Step, 0)) : Value();
  if (Emitting)
    madeBy(O, Index, Result, E[0]);
  if (isFollowed(O.Dst))
    Now.Regs[O.Dst] = Result;
  if (isFollowed(O.Second))
    Now.Regs[O.Second] = Second;
  if (isFollowed(O.BitsTo))
    Now.Regs[O.BitsTo].Bits = Bits;
  if (O.VectorDst >= 0)
    vectorStep(O, E[0], Origin);
  if (O.isCall())
    clobberForCall(O);
  if (Emitting && O.Next == Flow::Return)
    returned();
  else if (Emitting && O.Next != Flow::Next && !O.isCall())
    returnsFrom(O, Index);
}

void FunctionFlow::store(const Op &O, const MemOperand &M, const Effective &E,
                         bool Keeps, uint32_t Origin) {
  Value V, V2;
  if (Keeps) {
    V = reg(O, O.Stored);
    if (O.Stored == ImmReg && V.IsAddress) {
      V.Origin = Origin;
      if (Emitting)
        made(Origin - 1, V);
    }
    V2 = reg(O, O.Stored2);
  }
  // What a thread keeps for itself is its own from then on, of any width.  A
  // number that code names is what every thread keeps.
  bool KeptByThread =
      M.Flags & MemSegment || (isFollowed(M.Base) && Now.Regs[M.Base].IsOwn);
  if (KeptByThread && M.Kind == Access::Store && isFollowed(O.StoredAny) &&
      !(Now.Regs[O.StoredAny].isNumber() && Now.Regs[O.StoredAny].isExact()))
    Now.Regs[O.StoredAny].IsOwn = true;
  // The same whether it is read back or still in the register.
  if (auto At = threadPlace(M, E); At && Keeps && isFollowed(O.Stored) &&
                                   M.Kind == Access::Store && !V.isExact())
    Now.Regs[O.Stored] = Value::threadWord(*At, Origin);
  StoredWords Halves = storedVector(O, M);
  if (E.Where.Kind != ValueKind::Stack) {
    if (!Halves.Count)
      getsOut(V, M, E, Origin - 1, 0);
    if (O.Stored2 != NoReg)
      getsOut(V2, M, E, Origin - 1, 8);
    for (unsigned Word = 0; Word < Halves.Count; ++Word)
      getsOut(Halves.What[Word], M, E, Origin - 1, Word * 8);
    return;
  }
  if (!E.Where.isExact()) {
    if (Emitting && M.Kind == Access::Store)
      holdInElements(V, M, E.Where, 0, Origin - 1);
    return;
  }
  int64_t At = E.Where.Base;
  if (M.Flags & MemRepeated) {
    forget(At, Realigned / 2);
    return;
  }
  if (O.Stored == StepReg) {
    for (Slot &S : Now.Slots)
      if (S.Offset == At)
        V = add(S.Content, Value::number(O.Imm, 0));
  }
  forget(At, std::max<int64_t>(M.Size, 1));
  bool Whole = Keeps && (M.Kind == Access::Store || O.Stored == StepReg);
  bool Pair = O.Stored2 != NoReg && M.Size == 16;
  if (Whole && O.Stored != NoReg && (M.Size == 8 || Pair))
    spill(At, V);
  if (Whole && Pair)
    spill(At + 8, V2);
  for (unsigned Word = 0; Word < Halves.Count; ++Word)
    spill(At + Word * 8, Halves.What[Word]);
  if (Emitting && !P.Sleepers.empty()) {
    bool Two = Halves.Count > 1 || Pair;
    Sleeps.stored(At, Two ? 8 : M.Size, Halves.Count ? Halves.What[0] : V,
                  Order);
    if (Two)
      Sleeps.stored(At + 8, 8, Halves.Count ? Halves.What[1] : V2, Order);
  }
  if (Emitting && M.Kind == Access::Store) {
    keepOnFrame(V, At, Origin - 1);
    keepOnFrame(V2, At + 8, Origin - 1);
    for (unsigned Word = 0; Word < Halves.Count; ++Word)
      keepOnFrame(Halves.What[Word], At + Word * 8, Origin - 1);
  }
  if (Value Part = reg(O, O.StoredAny); M.Kind == Access::Store && M.Size < 8) {
    bool IsTried = Second && Part.isNumber() && Part.isExact();
    if (IsTried || Part.hasMarks())
      spill(At, IsTried ? Part : unknownFrom(Part), M.Size);
  }
}

/// \p V is stored so many bytes \p Behind where an operand points, out of the
/// function's sight.
void FunctionFlow::getsOut(const Value &V, const MemOperand &M,
                           const Effective &E, uint32_t Index, int64_t Behind) {
  eachOf(firstArray(V), [&](const Value &One) {
    expose(One, ExposedBytes);
    if (!Emitting)
      return;
    escape(One);
    keep(One, M, E, Index, Behind);
    hold(One, M, E, Index, Behind);
    holdInEither(One, M, Index, Behind);
  });
}

/// Is it a copy of an argument of this function, apart from what the address
/// \p Exposed leads to?  How far the object there goes is not known: it is
/// another variable, as all are without optimisation, and of a record that has
/// it as a member callees seldom change that.
static bool isOwnCopy(const Slot &S, int64_t Exposed) {
  bool IsArgument = S.Content.Kind == ValueKind::Param && S.Content.isExact();
  bool IsNarrow = S.Size < 8 && S.Content.IsGiven;
  return S.Offset > Exposed && (IsArgument || IsNarrow);
}

void FunctionFlow::clobberForCall(const Op &O) {
  if (callsDescriptor(O)) {
    Value Distance;
    Distance.IsOwn = true;
    Now.Regs[std::countr_zero(C.Result)] = Distance;
    return;
  }
  Value To = O.Next == Flow::Call ? Value::address(O.Imm, 0) : target(O);
  bool IsSpecial =
      To.isNumber() && To.isExact() && Special.mayHave(uint64_t(To.Base));
  bool WritesOne = IsSpecial && std::ranges::binary_search(P.HandleWriters,
                                                           uint64_t(To.Base));
  for (int8_t Reg : C.Arguments) {
    const Value &V = Now.Regs[Reg];
    if (V.Kind != ValueKind::Stack && !V.Choice)
      continue;
    bool IsHandle = WritesOne && Reg == C.Arguments[0];
    int64_t Size = IsHandle ? HandleBytes : ExposedBytes;
    eachOf(V, [&](const Value &One) { expose(One, Size); });
    if (WritesOne && V.Kind == ValueKind::Stack)
      forget(V.Base, Size); // what a thread is handed changes from now on
  }
  forgetVectors();
  uint32_t Origin = uint32_t(&O - Code.data()) + 1;
  Value Given = IsSpecial ? givenBy(To, Origin) : Value();
  CalleeRegisters There = registersOf(To);
  uint32_t Results = C.Result | (C.Results & There.Written);
  for (uint32_t Left = C.CallerSaved; Left; Left &= Left - 1) {
    unsigned R = std::countr_zero(Left);
    if (R >= C.Registers)
      break;
    if (Results & bit(int8_t(R)))
      Now.Regs[R] = Value();
    // What the callee does not look at may be there for the next call, but a
    // loop keeps addresses of data in registers for itself.
    const Value &V = Now.Regs[R];
    bool IsData = V.Kind != ValueKind::Unknown && V.Kind != ValueKind::Param &&
                  !(V.isNumber() && (!V.IsAddress || functionAt(V)));
    if ((C.Result | There.Used) & bit(int8_t(R)) || IsData)
      Now.Regs[R].IsStale = !(C.Result & bit(int8_t(R)));
  }
  if (IsSpecial)
    noteResult(To, Given, Origin);
  if (IsSpecial && makesObject(To)) {
    Now.Regs[std::countr_zero(C.Result)] = Value::pointee(O.Ip, Origin);
    if (!Known || !Known->isNew(uint64_t(To.Base)))
      return; // an allocator writes to nothing that its caller keeps
  }
  if (WritesOne || Exposed.empty())
    return;
  std::erase_if(Now.Slots, [&](const Slot &S) {
    return std::ranges::any_of(Exposed, [&](Exposure At) {
      return overlaps(S, At.Offset, At.Size) && !isOwnCopy(S, At.Offset);
    });
  });
}

} // namespace linemate
