//===- ZeroTests.cpp - Code behind a test for zero ------------------------===//
//
// Owns the same regions for source that elfscan/native/access/ZeroRanges.cpp
// finds in machine code, so that both are judged alike.
//
//===----------------------------------------------------------------------===//

#include "ZeroTests.h"

#include "Body.h"
#include "WordTests.h"

#include <algorithm>
#include <compare>

using namespace clang;

namespace linemate {

namespace {

/// Of a region; one in more pieces is mostly what follows an early return.
constexpr size_t MaxRuns = 16;
/// Blocks that are looked at for all tests of a function, for each block.
constexpr uint64_t WorkPerBlock = 32;

/// One way out of a test.
struct Way {
  int64_t Symbol;
  int64_t Offset;
  int64_t Size;
  bool IsZero;
  unsigned To, From; ///< positions in order
  auto operator<=>(const Way &) const = default;
  bool isAlike(const Way &O) const {
    return Symbol == O.Symbol && Offset == O.Offset && Size == O.Size &&
           IsZero == O.IsZero;
  }
};

class Regions {
public:
  Regions(const CFG &Graph, const Shape &Blocks)
      : Sorted(Blocks.inOrder()), Position(Graph.getNumBlockIDs(), Unreached),
        Mark(Sorted.size()) {
    for (unsigned I = 0; I < Sorted.size(); ++I)
      Position[Sorted[I]->getBlockID()] = I;
  }

  std::vector<Way> ways(Locations &At, UnitBuilder &Unit) const;
  /// Does nothing but \p Tests tests lead to the block in this position?
  bool isEnteredBy(unsigned At, size_t Tests) const;
  /// Runs of positions [first, last] of the blocks that every way from the
  /// start comes to through \p First.  In a graph whose loops have one head
  /// these are the blocks all of whose predecessors are in it, back edges
  /// aside.
  std::vector<std::pair<unsigned, unsigned>> behind(unsigned First);
  /// Whether a way through the region that was last followed, from \p First on,
  /// asks for the variable once more and goes back, having changed it nowhere:
  /// a loop that goes on until something stops it is no code that runs once.
  /// \p Alike are the ways of all tests with that outcome.
  bool comesAgain(llvm::ArrayRef<Way> Alike, unsigned First, Locations &At,
                  UnitBuilder &Unit);
  bool isTired() const { return Work > WorkPerBlock * Sorted.size(); }

private:
  static constexpr unsigned Unreached = ~0U;

  const std::vector<const CFGBlock *> &Sorted;
  std::vector<unsigned> Position;
  std::vector<unsigned> Mark;
  unsigned Number = 0;
  uint64_t Work = 0;

  unsigned at(const CFGBlock *B) const {
    return B ? Position[B->getBlockID()] : Unreached;
  }
};

std::vector<Way> Regions::ways(Locations &At, UnitBuilder &Unit) const {
  std::vector<Way> Found;
  for (const CFGBlock *B : Sorted) {
    const Expr *Condition =
        B->succ_size() == 2 ? B->getLastCondition() : nullptr;
    if (!Condition)
      continue;
    WordTest T = wordTest(Condition, At, Unit, B);
    if (T.Symbol < 0 || T.Against)
      continue;
    const CFGBlock *True = B->succ_begin()->getReachableBlock();
    const CFGBlock *False = (B->succ_begin() + 1)->getReachableBlock();
    if (True && False && True != False) {
      Found.push_back(
          {T.Symbol, T.Offset, T.Size, T.EqualIfTrue, at(True), at(B)});
      Found.push_back(
          {T.Symbol, T.Offset, T.Size, !T.EqualIfTrue, at(False), at(B)});
    }
  }
  // Several tests may lead to one place.
  std::sort(Found.begin(), Found.end());
  return Found;
}

bool Regions::isEnteredBy(unsigned At, size_t Tests) const {
  if (At >= Sorted.size())
    return false;
  size_t Leading = 0;
  for (const CFGBlock::AdjacentBlock &From : Sorted[At]->preds())
    Leading += at(From.getReachableBlock()) != Unreached;
  return Leading == Tests;
}

std::vector<std::pair<unsigned, unsigned>> Regions::behind(unsigned First) {
  std::vector<std::pair<unsigned, unsigned>> Runs;
  ++Number;
  unsigned Reach = First;
  for (unsigned I = First; I <= Reach; ++I, ++Work) {
    const CFGBlock &B = *Sorted[I];
    bool Inside = I == First || !B.pred_empty();
    if (I != First)
      for (const CFGBlock::AdjacentBlock &From : B.preds()) {
        unsigned P = at(From.getReachableBlock());
        Inside &= P == Unreached || P >= I || Mark[P] == Number;
        ++Work;
      }
    if (!Inside)
      continue;
    Mark[I] = Number;
    if (!Runs.empty() && Runs.back().second + 1 == I)
      Runs.back().second = I;
    else
      Runs.emplace_back(I, I);
    for (const CFGBlock::AdjacentBlock &To : B.succs())
      if (unsigned P = at(To.getReachableBlock()); P != Unreached)
        Reach = std::max(Reach, P);
  }
  return Runs;
}

bool changes(const CFGBlock &B, const Way &W, Locations &At,
             UnitBuilder &Unit) {
  return std::any_of(B.begin(), B.end(), [&](const CFGElement &Element) {
    std::optional<CFGStmt> S = Element.getAs<CFGStmt>();
    Location P = S ? changedBy(S->getStmt(), At, Unit.context()) : Location();
    return P.In == Location::Kind::Variable &&
           Unit.symbol(*P.Var) == W.Symbol && W.Offset <= P.Offset &&
           P.Offset < W.Offset + W.Size;
  });
}

bool Regions::comesAgain(llvm::ArrayRef<Way> Alike, unsigned First,
                         Locations &At, UnitBuilder &Unit) {
  auto GoesBack = [&](unsigned Position) {
    return std::any_of(Alike.begin(), Alike.end(), [&](const Way &W) {
      return W.From == Position &&
             (W.To == First || (W.To <= Position && W.To < Sorted.size() &&
                                Mark[W.To] == Number));
    });
  };
  std::vector<unsigned> Stack = {First};
  std::vector<bool> Seen(Sorted.size());
  Seen[First] = true;
  while (!Stack.empty()) {
    unsigned I = Stack.back();
    Stack.pop_back();
    Work += 1 + Alike.size();
    if (changes(*Sorted[I], Alike.front(), At, Unit))
      continue;
    for (const CFGBlock::AdjacentBlock &To : Sorted[I]->succs()) {
      unsigned P = at(To.getReachableBlock());
      if (P == Unreached)
        continue;
      if (GoesBack(P))
        return true;
      if (Mark[P] == Number && !Seen[P]) {
        Seen[P] = true;
        Stack.push_back(P);
      }
    }
  }
  return false;
}

} // namespace

void zeroTests(const CFG &Graph, const Shape &Blocks, Locations &At,
               UnitBuilder &Unit, Rows &Out) {
  if (Blocks.inOrder().size() > MostOrder)
    return; // positions would not be orders
  Regions Of(Graph, Blocks);
  std::vector<Way> Ways = Of.ways(At, Unit);
  for (size_t I = 0, Next = 0, Alike = 0; I < Ways.size() && !Of.isTired();
       I = Next) {
    const Way &W = Ways[I];
    while (Next < Ways.size() && Ways[Next].isAlike(W) && Ways[Next].To == W.To)
      ++Next;
    if (!Of.isEnteredBy(W.To, Next - I))
      continue;
    auto Runs = Of.behind(W.To);
    if (Runs.size() > MaxRuns)
      continue;
    while (!Ways[Alike].isAlike(W))
      ++Alike;
    size_t End = Next;
    while (End < Ways.size() && Ways[End].isAlike(W))
      ++End;
    if (Of.comesAgain(llvm::ArrayRef(Ways).slice(Alike, End - Alike), W.To, At,
                      Unit))
      continue;
    for (auto [First, Last] : Runs)
      append(Out, {W.Symbol, W.Offset, W.Size, W.IsZero, 0, First, Last});
  }
}

} // namespace linemate
