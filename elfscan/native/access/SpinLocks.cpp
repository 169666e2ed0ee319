//===- SpinLocks.cpp - Locks that code takes by itself --------------------===//
//
// Owns the pairing of what takes a word with the branch that asks whether it
// did, and the flow from there to where the word is given back.
//
//===----------------------------------------------------------------------===//

#include "SpinLocks.h"

#include <algorithm>

namespace linemate {

namespace {

/// Ops between a question and its branch, which compilers put there.
constexpr uint32_t MaxApart = 4;
/// Between the two words of a ticket lock.
constexpr uint64_t TicketBytes = 8;
/// Words that one function takes; one that takes more is made by a generator.
constexpr size_t MaxWords = 16;
/// Sweeps over the blocks for one word; loops within loops take a few.
constexpr unsigned MaxSweeps = 16;

/// Does \p O test the lowest \p Size bytes of \p Reg?  For a byte that a
/// function returned, AArch64 has: tst w0, #0xff
bool testsBytes(const Op &O, int8_t Reg, uint32_t Size) {
  return O.Traits & Compares && O.Traits & HasSmall && O.First == Reg &&
         O.Tested == NoReg && !O.AgainstNegative && Size < sizeof(O.Small) &&
         O.Small == (1 << 8 * Size) - 1;
}

} // namespace

void SpinLocks::start(std::span<const Op> Ops, bool Calls) {
  Loads.clear();
  Draws.clear();
  Stores.clear();
  Attempts.clear();
  Branches.clear();
  Pending = Asked = {};
  AskedBy = NoReg;
  Needed = Calls || std::ranges::any_of(Ops, [](const Op &O) {
             return O.MemCount && (O.Swapped != NoReg || O.Proposed != NoReg ||
                                   O.Added != NoReg);
           });
}

SpinLocks::Word SpinLocks::loadedBy(uint32_t Index,
                                    const std::vector<Access> &By) const {
  auto It = std::ranges::lower_bound(By, Index, {}, &Access::Index);
  return It != By.end() && It->Index == Index ? It->What : Word();
}

void SpinLocks::tries(uint32_t Index, uint32_t Block, Word What, int8_t Old) {
  Lock Taken = {What.Place, What.Size, 0};
  Attempts.push_back({Index, Taken});
  if (Old == NoReg) {
    Pending = Taken;
    PendingAt = Index;
    return;
  }
  Asked = Taken;
  AskedBy = Old;
  AskedIn = Block;
}

bool SpinLocks::isTriedBy(uint32_t Index, Word What) const {
  return std::ranges::any_of(Attempts, [&](const Attempt &A) {
    return A.Index == Index && A.What.Place == What.Place;
  });
}

void SpinLocks::draws(uint32_t Index, Word Next) {
  Draws.push_back({Index, Next});
}

void SpinLocks::compares(uint32_t Index, uint32_t First, uint32_t Second,
                         Word Memory) {
  Word Next = loadedBy(First, Draws), Turn = loadedBy(Second, Loads);
  if (!Next.Size) {
    Next = loadedBy(Second, Draws);
    Turn = loadedBy(First, Loads);
  }
  if (Memory.Size)
    Turn = Memory;
  uint64_t Low = std::min(Next.Place, Turn.Place);
  uint64_t Apart = std::max(Next.Place, Turn.Place) - Low;
  if (!Next.Size || Next.Size != Turn.Size || Apart < Next.Size ||
      Apart > TicketBytes)
    return;
  Pending = {Low, uint32_t(Apart) + Next.Size, uint8_t(1 + Turn.Place - Low)};
  PendingAt = Index;
}

void SpinLocks::sees(const Op &O, uint32_t Index, uint32_t Block) {
  bool Asks = AskedBy != NoReg && AskedIn == Block &&
              (O.BitTested == AskedBy || (O.Tested == AskedBy && !O.Against) ||
               testsBytes(O, AskedBy, Asked.Size));
  if (Asks) {
    Pending = Asked;
    PendingAt = Index;
  }
  if (O.Zero != OnZero::Unknown) {
    if (Pending.Size && Index - PendingAt <= MaxApart)
      Branches.push_back({Pending, Block, O.Zero, uint64_t(O.Imm)});
    Pending = {};
  } else if (PendingAt != Index && !keepsFlags(O)) {
    Pending = {};
  }
  bool IsSet =
      AskedBy != NoReg && (O.Dst == AskedBy || O.Written == AskedBy ||
                           (O.Clobbers & bit(AskedBy) && O.Swapped != AskedBy));
  if (IsSet || O.isCall())
    AskedBy = NoReg;
}

/// Where each question leads if the word was taken.  One that leaves the
/// function has one way in it.
void SpinLocks::findWays(const Graph &G, std::span<const Op> Ops) {
  std::span<const Block> Blocks = G.blocks();
  Ways.clear();
  for (const Branch &B : Branches) {
    std::span<const uint32_t> Next = G.successors(Blocks[B.Block]);
    if (Next.size() == 2 && Next[0] == Next[1])
      continue;
    bool BranchesOnTaken = B.Zero == OnZero::Branches;
    for (uint32_t To : Next)
      if ((Ops[Blocks[To].First].Ip == B.Target) == BranchesOnTaken)
        Ways.push_back(
            {B.What, B.Block, To,
             uint32_t(Next.size() == 2 ? Next[0] + Next[1] - To : NoBlock)});
  }
  std::sort(Ways.begin(), Ways.end());
}

/// The first call where a way leads on which the word was not taken: it may be
/// what waits for the word.  NoBlock: none.
uint32_t SpinLocks::waitsBy(const Graph &G, std::span<const Op> Ops,
                            const Way &W) const {
  if (W.Failed == NoBlock)
    return NoBlock;
  const Block &B = G.blocks()[W.Failed];
  for (uint32_t I = B.First; I < B.Last; ++I)
    if (Ops[I].Next == Flow::Call && !Ops[I].NeverReturns)
      return I;
  return NoBlock;
}

bool SpinLocks::releases(const Store &S, const Lock &What) const {
  if (!What.Ticket)
    return S.Clears && S.What.Place == What.Place;
  return S.What.Place == What.Place + What.Ticket - 1;
}

/// A block holds the word from its begin on where all ways there do.  \p Waits:
/// the blocks of calls that wait for it take it.
void SpinLocks::solve(const Graph &G, std::span<const Op> Ops,
                      std::span<const Way> Taken, bool Waits) {
  std::span<const Block> Blocks = G.blocks();
  std::span<const uint32_t> Last = G.postOrder();
  Gives.assign(Blocks.size(), 0);
  Takes.assign(Blocks.size(), 0);
  for (const Store &S : Stores)
    if (releases(S, Taken.front().What))
      Gives[S.Block] = 1;
  if (Waits)
    for (const Way &W : Taken)
      if (waitsBy(G, Ops, W) != NoBlock && !Gives[W.Failed])
        Takes[W.Failed] = 1;
  HeldOut.assign(Blocks.size(), 0);
  HeldIn.assign(Blocks.size(), 1);
  HeldIn[0] = 0;
  for (size_t B = 0; B < Blocks.size(); ++B)
    HeldOut[B] = !Gives[B];
  bool Changed = true;
  for (unsigned Sweep = 0; Changed; ++Sweep) {
    Changed = false;
    if (Sweep == MaxSweeps) {
      HeldIn.assign(Blocks.size(), 0);
      HeldOut.assign(Blocks.size(), 0);
      return;
    }
    for (size_t I = Last.size(); I-- > 0;) {
      uint32_t B = Last[I];
      std::span<const uint32_t> Before = G.predecessors(B);
      bool Held = B && !Before.empty();
      for (size_t P = 0; Held && P < Before.size(); ++P)
        Held =
            HeldOut[Before[P]] || std::ranges::any_of(Taken, [&](const Way &W) {
              return W.From == Before[P] && W.To == B;
            });
      uint8_t Out = Takes[B] || (Held && !Gives[B]);
      Changed |= Held != bool(HeldIn[B]) || Out != HeldOut[B];
      HeldIn[B] = Held;
      HeldOut[B] = Out;
    }
  }
}

void SpinLocks::report(const Graph &G, std::span<const Op> Ops,
                       const Lock &What, int32_t Function, uint8_t Mark,
                       std::vector<ZeroRangeRow> &Out) const {
  std::span<const Block> Blocks = G.blocks();
  auto Add = [&](uint64_t Begin, uint64_t End, ZeroRange Is) {
    Out.push_back({What.Place, Begin, End, Function, uint16_t(What.Size),
                   uint8_t(Is), uint8_t(What.Ticket | Mark)});
  };
  size_t First = Out.size();
  bool Returns = false, Leaves = true, Goes = false;
  for (size_t B = 0; B < Blocks.size(); ++B) {
    const Op &Final = Ops[Blocks[B].Last - 1];
    size_t Inside = G.successors(Blocks[B]).size();
    if (Final.Next == Flow::Return) {
      Returns = true;
      Leaves &= HeldOut[B];
    } else if ((Final.Next == Flow::Branch && Inside < 2) ||
               (!Inside && (Final.Next == Flow::Jump ||
                            Final.Next == Flow::IndirectJump))) {
      Goes = true;
    }
    if (!HeldIn[B])
      continue;
    uint64_t Begin = Ops[Blocks[B].First].Ip, End = Final.end();
    for (auto S = std::ranges::lower_bound(Stores, Blocks[B].First, {},
                                           &Store::Index);
         S != Stores.end() && S->Index < Blocks[B].Last; ++S)
      if (releases(*S, What)) {
        End = Ops[S->Index].Ip;
        break;
      }
    if (Begin == End)
      continue;
    if (Out.size() > First && Out.back().End == Begin)
      Out.back().End = End;
    else
      Add(Begin, End, ZeroRange::Held);
  }
  if (Returns && Leaves) {
    Mark |= Goes ? SpinMark::IfTailCallsTake : 0;
    Add(Ops.front().Ip, Ops.back().end(), ZeroRange::Leaves);
  }
}

void SpinLocks::finish(const Graph &G, std::span<const Op> Ops,
                       int32_t Function, std::vector<ZeroRangeRow> &Out) {
  if (Branches.empty())
    return;
  findWays(G, Ops);
  size_t Words = 0;
  for (size_t I = 0, Next = 0; I < Ways.size(); I = Next) {
    const Lock &What = Ways[I].What;
    while (Next < Ways.size() && Ways[Next].What == What)
      ++Next;
    if (++Words > MaxWords)
      return;
    std::span<const Way> Taken = std::span(Ways).subspan(I, Next - I);
    solve(G, Ops, Taken, false);
    report(G, Ops, What, Function, 0, Out);
    bool Waits = false;
    for (const Way &W : Taken)
      if (uint32_t Call = waitsBy(G, Ops, W); Call != NoBlock) {
        Out.push_back({What.Place, Ops[Call].Ip, Ops[Call].end(), Function,
                       uint16_t(What.Size), uint8_t(ZeroRange::Waits),
                       What.Ticket});
        Waits = true;
      }
    if (Waits) {
      solve(G, Ops, Taken, true);
      report(G, Ops, What, Function, SpinMark::IfWaitsTake, Out);
    }
    for (const Attempt &A : Attempts)
      if (A.What == What)
        Out.push_back({What.Place, Ops[A.Index].Ip, Ops[A.Index].end(),
                       Function, uint16_t(What.Size), uint8_t(ZeroRange::Takes),
                       0});
    if (What.Ticket)
      for (const Access &D : Draws)
        if (D.What.Place >= What.Place && D.What.Place < What.Place + What.Size)
          Out.push_back({What.Place, Ops[D.Index].Ip, Ops[D.Index].end(),
                         Function, uint16_t(What.Size),
                         uint8_t(ZeroRange::Takes), What.Ticket});
  }
}

} // namespace linemate
