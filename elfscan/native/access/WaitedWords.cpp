//===- WaitedWords.cpp - Words that loops wait for ------------------------===//
//
// Owns the way of a word from its load through copies, as code without
// optimisation makes them, to a branch, and the flow from there.
//
//===----------------------------------------------------------------------===//

#include "WaitedWords.h"

#include <algorithm>
#include <bit>

namespace linemate {

namespace {

/// What a word may be found to be, besides a small number.
constexpr uint16_t NotZero = TurnValue::NotZero, Other = TurnValue::Other;
/// Runs of one region; one in more pieces is mostly what follows an early
/// return.
constexpr size_t MaxRuns = 16;
/// Tests of one function; one with more is made by a generator.
constexpr size_t MaxTests = 64;
/// Blocks of a loop that waits, what it does meanwhile included.
constexpr size_t MaxAround = 32;
/// Sweeps over the blocks for one word; loops within loops take a few.
constexpr unsigned MaxSweeps = 16;

} // namespace

void WaitedWords::start(const Graph &G) {
  Needed = std::ranges::any_of(G.blocks(),
                               [](const Block &B) { return B.LoopDepth > 0; });
  Tests.clear();
  Stores.clear();
  Here = UINT32_MAX;
  Pending = {};
  Follows = true;
  forget();
}

void WaitedWords::forget() {
  if (!Follows)
    return;
  Regs.fill(Word());
  Slots.clear();
  Follows = false;
}

WaitedWords::Word WaitedWords::operand(int8_t Reg, const Place &At) const {
  if (isFollowed(Reg))
    return Regs[Reg];
  if (Reg != MemReg || !At.OnStack)
    return Reg == MemReg ? At.What : Word();
  auto It = std::ranges::find(Slots, At.Offset, &Slot::Offset);
  return It == Slots.end() ? Word() : It->Content;
}

/// What registers and the stack have behind the op, of words that were loaded.
/// \p Tested is what the last test asked, with the number.
void WaitedWords::follow(const Op &O, const Place &At, const Word &Tested) {
  if (O.isCall()) {
    forget();
    if (At.Handed.Size && isFollowed(At.ReturnedIn)) {
      Regs[At.ReturnedIn] = At.Handed;
      Follows = true;
    }
    return;
  }
  bool Loads =
      isFollowed(O.Got) && O.MemCount == 1 && O.Mem[0].Kind == Access::Load;
  bool Writes = O.MemCount && O.Mem[0].Kind != Access::None &&
                O.Mem[0].Kind != Access::Load;
  if (!Follows && !(Loads && At.What.Size))
    return;
  if (Writes && At.OnStack) {
    std::erase_if(Slots, [&](const Slot &S) { return S.Offset == At.Offset; });
    if (O.Mem[0].Kind == Access::Store && isFollowed(O.StoredAny) &&
        Regs[O.StoredAny].Size)
      Slots.push_back({At.Offset, Regs[O.StoredAny]});
  }
  Word Got;
  int8_t To = O.Dst;
  bool Masks = O.How == Transfer::Align && O.Imm == 1;
  if (Loads) {
    Got = operand(MemReg, At);
    To = O.Got;
  } else if (isFollowed(O.Turned)) {
    Got = Regs[O.Turned];
    To = O.Turned;
    if (Got.IsAnswer)
      Got.IfEqual = !Got.IfEqual;
    else if (Got.Size == 1)
      Got.Turned = !Got.Turned;
    else
      Got = {};
  } else if ((O.How == Transfer::Move || O.How == Transfer::Extend || Masks) &&
             isFollowed(O.Src)) {
    Got = Regs[O.Src];
  }
  for (uint32_t Left = O.Clobbers; Left; Left &= Left - 1)
    Regs[std::countr_zero(Left)] = Word();
  if (isFollowed(O.AnsweredIn) && Tested.Size) {
    Got = Tested;
    Got.IsAnswer = true;
    Got.IfEqual = O.AnswersZero != Tested.Turned;
    Got.Turned = false;
    To = O.AnsweredIn;
  }
  for (int8_t Reg : {O.Second, O.Written})
    if (isFollowed(Reg))
      Regs[Reg] = Word();
  if (isFollowed(To))
    Regs[To] = Got;
  Follows |= Got.Size > 0;
}

void WaitedWords::sees(const Op &O, uint32_t Index, uint32_t Block,
                       const Place &At) {
  if (Block != Here) {
    forget();
    Pending = {};
    Here = Block;
  }
  if (At.What.Size &&
      (O.Mem[0].Kind == Access::Store || O.Mem[0].Kind == Access::Rmw))
    Stores.push_back({Index, Block, At.What.Address});
  if (O.isCall() && At.Handed.Size && !isFollowed(At.ReturnedIn))
    Stores.push_back({Index, Block, At.Handed.Address});
  bool Asks = O.Tested != NoReg || O.BitTested != NoReg || O.Compared != NoReg;
  if (Asks) {
    Pending = {};
    PendingAgainst = O.Against;
    if (O.Tested != NoReg) {
      Pending = operand(O.Tested, At);
    } else if (O.BitTested != NoReg) {
      Pending = operand(O.BitTested, At);
      if (Pending.Size != 1 && !Pending.IsAnswer)
        Pending = {};
    } else {
      Word First = operand(O.Compared, At), Second = operand(O.ComparedTo, At);
      Pending = First.Size ? First : Second;
      if ((First.Size && Second.Size) || Pending.Turned || Pending.IsAnswer)
        Pending = {};
      PendingAgainst = Other;
    }
    if (Pending.IsAnswer && PendingAgainst)
      Pending = {};
  }
  Word Tested = Pending;
  Tested.Number = PendingAgainst;
  if (Pending.IsAnswer || PendingAgainst == Other)
    Tested = {};
  if (O.Zero != OnZero::Unknown) {
    if (Pending.Size && Tests.size() < MaxTests) {
      bool IfZero = O.Zero == OnZero::Branches;
      uint16_t Against = Pending.IsAnswer ? Pending.Number : PendingAgainst;
      bool OnEqual = Pending.IsAnswer ? IfZero != Pending.IfEqual : IfZero;
      Pending.IsAnswer = Pending.IfEqual = false;
      Pending.Number = 0;
      Tests.push_back({Pending, Block, Against, OnEqual, uint64_t(O.Imm)});
    }
    Pending = {};
  } else if (!Asks && !keepsFlags(O)) {
    Pending = {};
  }
  follow(O, At, Tested);
}

/// Whether a way leads from block \p From to the test in block \p To, and not
/// through \p Without.
bool WaitedWords::comesAgain(const Graph &G, uint32_t From, uint32_t To,
                             uint32_t Without) {
  std::span<const Block> Blocks = G.blocks();
  if (!Blocks[To].LoopDepth)
    return false;
  Seen.assign(1, From);
  for (size_t I = 0; I < Seen.size() && I < MaxAround; ++I) {
    if (Seen[I] == To)
      return true;
    for (uint32_t Next : G.successors(Blocks[Seen[I]]))
      if (Next != Without && !std::ranges::count(Seen, Next))
        Seen.push_back(Next);
  }
  return false;
}

/// Where the tests of \p What lead, and what it is there.
void WaitedWords::findWays(const Graph &G, std::span<const Op> Ops, Word What) {
  std::span<const Block> Blocks = G.blocks();
  Ways.clear();
  for (const Test &T : Tests) {
    std::span<const uint32_t> Next = G.successors(Blocks[T.Block]);
    if (T.What.Address != What.Address || Next.size() != 2 ||
        Next[0] == Next[1] || (T.What.Turned && T.Against))
      continue;
    for (uint32_t To : Next) {
      bool Branches = Ops[Blocks[To].First].Ip == T.Target;
      bool Equal = (Branches == T.EqualBranches) != T.What.Turned;
      uint16_t Found = Equal ? T.Against : NotZero;
      if (!Equal && T.Against)
        continue;
      Ways.push_back({Found, T.Block, To,
                      comesAgain(G, Next[0] + Next[1] - To, T.Block, To)});
    }
  }
}

/// The blocks to which all ways lead through one of those that \p Leads says,
/// and not through a block that sets the word afterwards; false: there are
/// none.
bool WaitedWords::solve(const Graph &G, auto Leads) {
  bool Any = std::ranges::any_of(
      Ways, [&](const Way &W) { return W.GoesRound && Leads(W); });
  if (!Any)
    return false;
  std::span<const Block> Blocks = G.blocks();
  std::span<const uint32_t> Last = G.postOrder();
  In.assign(Blocks.size(), 1);
  In[0] = 0;
  Out.assign(Blocks.size(), 0);
  for (size_t B = 0; B < Blocks.size(); ++B)
    Out[B] = !Sets[B];
  bool Changed = true;
  for (unsigned Sweep = 0; Changed; ++Sweep) {
    if (Sweep == MaxSweeps)
      return false;
    Changed = false;
    for (size_t I = Last.size(); I-- > 0;) {
      uint32_t B = Last[I];
      std::span<const uint32_t> Before = G.predecessors(B);
      bool Held = B && !Before.empty();
      for (size_t P = 0; Held && P < Before.size(); ++P)
        Held = Out[Before[P]] || std::ranges::any_of(Ways, [&](const Way &W) {
                 return W.From == Before[P] && W.To == B && Leads(W);
               });
      uint8_t Then = Held && !Sets[B];
      Changed |= Held != bool(In[B]) || Then != Out[B];
      In[B] = Held;
      Out[B] = Then;
    }
  }
  return true;
}

bool WaitedWords::givesOn() const {
  for (size_t B = 0; B < In.size(); ++B)
    if (In[B] && Sets[B])
      return true;
  return false;
}

/// Rows of the blocks that were found; false where the function returns from
/// others too.
bool WaitedWords::report(const Graph &G, std::span<const Op> Ops, Word What,
                         int32_t Function, ZeroRange Is, uint8_t Value,
                         std::vector<ZeroRangeRow> &Rows) const {
  std::span<const Block> Blocks = G.blocks();
  size_t First = Rows.size();
  bool Returns = false, Behind = true;
  for (size_t B = 0; B < Blocks.size(); ++B) {
    const Op &Final = Ops[Blocks[B].Last - 1];
    size_t Inside = G.successors(Blocks[B]).size();
    bool Goes = (Final.Next == Flow::Branch && Inside < 2) ||
                (!Inside && (Final.Next == Flow::Jump ||
                             Final.Next == Flow::IndirectJump));
    if (Final.Next == Flow::Return || Goes) {
      Returns = true;
      Behind &= Out[B];
    }
    if (!In[B])
      continue;
    uint64_t Begin = Ops[Blocks[B].First].Ip, End = Final.end();
    if (Sets[B])
      for (auto S = std::ranges::lower_bound(Stores, Blocks[B].First, {},
                                             &Store::Index);
           S != Stores.end() && S->Index < Blocks[B].Last; ++S)
        if (S->Address == What.Address) {
          End = Ops[S->Index].Ip;
          break;
        }
    if (Rows.size() > First && Rows.back().End == Begin)
      Rows.back().End = End;
    else if (Begin < End)
      Rows.push_back({What.Address, Begin, End, Function, uint16_t(What.Size),
                      uint8_t(Is), Value});
  }
  if (Rows.size() - First > MaxRuns)
    Rows.resize(First);
  return Returns && Behind;
}

void WaitedWords::finish(const Graph &G, std::span<const Op> Ops,
                         int32_t Function, std::vector<ZeroRangeRow> &Rows) {
  std::vector<uint64_t> Done;
  for (const Test &T : Tests) {
    Word What = T.What;
    if (std::ranges::count(Done, What.Address))
      continue;
    Done.push_back(What.Address);
    findWays(G, Ops, What);
    Sets.assign(G.blocks().size(), 0);
    // Of a word that is zero at first: somebody has set it.
    auto IsSet = [](const Way &W) { return W.Found && W.Found != Other; };
    if (solve(G, IsSet) &&
        report(G, Ops, What, Function, ZeroRange::Passed, 0, Rows))
      Rows.push_back({What.Address, Ops.front().Ip, Ops.back().end(), Function,
                      uint16_t(What.Size), uint8_t(ZeroRange::Passes), 0});
    for (const Store &S : Stores)
      if (S.Address == What.Address)
        Sets[S.Block] = 1;
    if (!std::ranges::count(Sets, 1))
      continue;
    std::vector<uint16_t> Values;
    for (const Way &W : Ways)
      if (W.GoesRound && !std::ranges::count(Values, W.Found))
        Values.push_back(W.Found);
    for (uint16_t Value : Values)
      if (solve(G, [Value](const Way &W) { return W.Found == Value; }) &&
          givesOn())
        report(G, Ops, What, Function, ZeroRange::Turn, uint8_t(Value), Rows);
  }
}

} // namespace linemate
