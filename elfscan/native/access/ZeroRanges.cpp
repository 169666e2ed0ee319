//===- ZeroRanges.cpp - Code behind a test for zero -----------------------===//
//
// Owns the pairing of tests with branches and the blocks that a branch alone
// leads to.
//
//===----------------------------------------------------------------------===//

#include "ZeroRanges.h"

#include <algorithm>

namespace linemate {

namespace {

/// Ops between a test and its branch, which compilers put there.
constexpr uint32_t MaxApart = 4;
/// Of a region; one in more pieces is mostly what follows an early return.
constexpr size_t MaxRanges = 16;
/// Blocks that are looked at for all tests of a function, for each block.
constexpr uint64_t WorkPerBlock = 32;

/// Where a way really leads: what aligns the place that several tests lead to
/// is a block of its own to the one that runs into it.
uint32_t behindPadding(const Graph &G, std::span<const Op> Ops, uint32_t B) {
  const Block &Here = G.blocks()[B];
  std::span<const uint32_t> Next = G.successors(Here);
  bool Pads = Next.size() == 1 && G.predecessors(B).size() == 1 &&
              std::all_of(Ops.begin() + Here.First, Ops.begin() + Here.Last,
                          [](const Op &O) { return O.idles(); });
  return Pads ? Next[0] : B;
}

} // namespace

void ZeroRanges::clear() {
  Loads.clear();
  Stores.clear();
  Tests.clear();
  Pending = {};
}

ZeroRanges::Variable ZeroRanges::loadedBy(uint32_t Index) const {
  auto It = std::lower_bound(
      Loads.begin(), Loads.end(), Index,
      [](const Load &L, uint32_t Wanted) { return L.Index < Wanted; });
  return It != Loads.end() && It->Index == Index ? It->From : Variable();
}

void ZeroRanges::sees(const Op &O, uint32_t Index, uint32_t Block,
                      Variable What) {
  if (O.Tested != NoReg) {
    Pending = What;
    PendingAt = Index;
    PendingAgainst = O.Against;
  }
  if (O.Zero != OnZero::Unknown) {
    if (Pending.Size && Index - PendingAt <= MaxApart)
      Tests.push_back(
          {Pending, Block, O.Zero, uint64_t(O.Imm), PendingAgainst});
    Pending = {};
  } else if (O.Tested == NoReg && !keepsFlags(O)) {
    Pending = {};
  }
}

/// Where each test leads, by variable, outcome and block: a compiler that
/// repeats code lets several tests lead to one place.
void ZeroRanges::findWays(const Graph &G, std::span<const Op> Ops) {
  std::span<const Block> Blocks = G.blocks();
  Ways.clear();
  for (const Test &T : Tests) {
    std::span<const uint32_t> Next = G.successors(Blocks[T.Block]);
    if (Next.size() != 2)
      continue;
    bool FirstIsTarget = Ops[Blocks[Next[0]].First].Ip == T.Target;
    unsigned Zero = FirstIsTarget == (T.Zero == OnZero::Branches) ? 0 : 1;
    uint32_t IfZero = behindPadding(G, Ops, Next[Zero]);
    uint32_t IfNot = behindPadding(G, Ops, Next[1 - Zero]);
    if (!T.Against)
      Ways.push_back({0, T.What, true, IfZero, T.Block});
    Ways.push_back({T.Against, T.What, false, IfNot, T.Block});
  }
  std::sort(Ways.begin(), Ways.end());
}

/// Region: the blocks that every way from the function's start comes to through
/// \p First.  In a graph whose loops have one head these are the blocks all of
/// whose predecessors are in it, back edges aside.
void ZeroRanges::follow(const Graph &G, uint32_t First, uint32_t Number) {
  std::span<const uint32_t> Last = G.postOrder();
  Region.clear();
  uint32_t Reach = Position[First];
  for (uint32_t At = Reach; At <= Reach; ++At) {
    uint32_t B = Last[Last.size() - 1 - At];
    std::span<const uint32_t> Before = G.predecessors(B);
    bool Inside = B == First || !Before.empty();
    if (B != First)
      for (size_t P = 0; Inside && P < Before.size(); ++P) {
        Inside = Mark[Before[P]] == Number || Position[Before[P]] >= At;
        ++Work;
      }
    ++Work;
    if (!Inside)
      continue;
    Mark[B] = Number;
    Region.push_back(B);
    for (uint32_t To : G.successors(G.blocks()[B]))
      Reach = std::max(Reach, Position[To]);
  }
}

/// Whether a way through the region that begins with block \p First asks for
/// the variable once more and goes back, having changed it nowhere: a loop that
/// goes on until something stops it is no code that runs once.  \p Alike are
/// the ways of all tests with that outcome.
bool ZeroRanges::comesAgain(const Graph &G, std::span<const Way> Alike,
                            uint32_t First, uint32_t Number) {
  Variable What = Alike.front().What;
  auto Changes = [&](uint32_t Block) {
    for (auto It = std::ranges::lower_bound(Stores, Block, {}, &Store::Block);
         It != Stores.end() && It->Block == Block; ++It)
      if (It->What.Address < What.Address + What.Size &&
          What.Address < It->What.Address + It->What.Size)
        return true;
    return false;
  };
  Work += Alike.size();
  auto GoesBack = [&](uint32_t Block) {
    return std::ranges::any_of(Alike, [&](const Way &W) {
      return W.From == Block &&
             (W.To == First ||
              (Mark[W.To] == Number && Position[W.To] <= Position[Block]));
    });
  };
  Stack.assign(1, First);
  Seen[First] = Number;
  while (!Stack.empty()) {
    uint32_t B = Stack.back();
    Stack.pop_back();
    Work += 1 + Alike.size();
    if (Changes(B))
      continue;
    for (uint32_t To : G.successors(G.blocks()[B])) {
      if (GoesBack(To))
        return true;
      if (Mark[To] == Number && Seen[To] != Number) {
        Seen[To] = Number;
        Stack.push_back(To);
      }
    }
  }
  return false;
}

void ZeroRanges::finish(const Graph &G, std::span<const Op> Ops,
                        int32_t Function, std::vector<ZeroRangeRow> &Out) {
  if (Tests.empty())
    return;
  std::span<const Block> Blocks = G.blocks();
  Position.assign(Blocks.size(), 0);
  std::span<const uint32_t> Last = G.postOrder();
  for (uint32_t I = 0; I < Last.size(); ++I)
    Position[Last[I]] = Last.size() - 1 - I;
  Mark.assign(Blocks.size(), 0);
  Seen.assign(Blocks.size(), 0);
  Work = 0;
  findWays(G, Ops);
  auto IsAlike = [](const Way &A, const Way &B) {
    return A.Against == B.Against && A.What == B.What && A.IsZero == B.IsZero;
  };
  for (size_t I = 0, Next = 0, Alike = 0; I < Ways.size(); I = Next) {
    const Way &W = Ways[I];
    while (Next < Ways.size() && Ways[Next].Against == W.Against &&
           Ways[Next].What == W.What && Ways[Next].IsZero == W.IsZero &&
           Ways[Next].To == W.To)
      ++Next;
    if (Work > WorkPerBlock * Blocks.size())
      return;
    if (!W.To || G.predecessors(W.To).size() != Next - I)
      continue; // something else leads there as well
    follow(G, W.To, I + 1);
    while (Alike < I && !IsAlike(Ways[Alike], W))
      ++Alike;
    size_t End = Next;
    while (End < Ways.size() && IsAlike(Ways[End], W))
      ++End;
    if (comesAgain(G, std::span(Ways).subspan(Alike, End - Alike), W.To, I + 1))
      continue;
    std::sort(Region.begin(), Region.end());
    size_t Before = Out.size();
    for (uint32_t B : Region) {
      uint64_t Begin = Ops[Blocks[B].First].Ip;
      uint64_t End = Ops[Blocks[B].Last - 1].end();
      if (Out.size() > Before && Out.back().End == Begin)
        Out.back().End = End;
      else
        Out.push_back(
            {W.What.Address, Begin, End, Function, uint16_t(W.What.Size),
             uint8_t(W.IsZero ? ZeroRange::IsZero : ZeroRange::Differs),
             W.Against});
    }
    if (Out.size() - Before > MaxRanges)
      Out.resize(Before);
  }
}

} // namespace linemate
