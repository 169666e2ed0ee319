//===- WaitedWords.cpp - Words that loops wait for ------------------------===//
//
// Owns the ways out of such loops and the flow from there.
//
//===----------------------------------------------------------------------===//

#include "WaitedWords.h"

#include "Body.h"
#include "WordTests.h"

#include "clang/AST/StmtCXX.h"

#include <algorithm>

using namespace clang;

namespace linemate {

namespace {

/// sharing.model.image.ZeroRange.
enum WaitRange : int64_t {
  IsPassed = 7,
  IsPasses = 8,
  IsTurn = 9,
  IsTold = 10
};

/// Runs of one region; one in more pieces is mostly what follows an early
/// return.
constexpr size_t WaitMaxRuns = 16;
/// Tests of one function; one with more is made by a generator.
constexpr size_t WaitMaxTests = 64;
/// Sweeps over the blocks for one word; loops within loops take a few.
constexpr unsigned WaitMaxSweeps = 16;
/// Blocks of a loop that waits, what it does meanwhile included.
constexpr size_t WaitMaxAround = 32;

struct WayOut {
  WordTest Of;
  uint16_t Found;    ///< a number that the word was found to be, or NotZero
  unsigned From, To; ///< positions in order
  bool GoesRound;    ///< else, to the test again
};

class WaitSearch {
public:
  WaitSearch(const CFG &Graph, const Shape &Blocks, Locations &At,
             UnitBuilder &Unit)
      : Graph(Graph), Blocks(Blocks), At(At), Unit(Unit),
        Sorted(Blocks.inOrder()), Position(Graph.getNumBlockIDs(), Unreached) {
    for (unsigned I = 0; I < Sorted.size(); ++I)
      Position[Sorted[I]->getBlockID()] = I;
  }

  void run(Rows &Out);

private:
  static constexpr unsigned Unreached = ~0U;

  const CFG &Graph;
  const Shape &Blocks;
  Locations &At;
  UnitBuilder &Unit;
  const std::vector<const CFGBlock *> &Sorted;
  std::vector<unsigned> Position;
  std::vector<WayOut> Ways;
  std::vector<bool> In, Behind, Sets;

  unsigned at(const CFGBlock *B) const {
    return B ? Position[B->getBlockID()] : Unreached;
  }
  bool comesAgain(const CFGBlock &From, unsigned To, unsigned Without) const;
  void findWays();
  void findStores(const WordTest &What);
  bool solve(const WordTest &What,
             llvm::function_ref<bool(const WayOut &)> Leads);
  void report(const WordTest &What, int64_t Is, int64_t Value, Rows &Out) const;
};

/// Whether a way leads from a block to the one in position \p To again, and not
/// through \p Without.
bool WaitSearch::comesAgain(const CFGBlock &From, unsigned To,
                            unsigned Without) const {
  if (!Blocks[Sorted[To]->getBlockID()].LoopDepth)
    return false;
  std::vector<unsigned> Seen = {at(&From)};
  for (size_t I = 0; I < Seen.size() && I < WaitMaxAround; ++I) {
    if (Seen[I] == To)
      return true;
    for (const CFGBlock::AdjacentBlock &Next : Sorted[Seen[I]]->succs()) {
      unsigned P = at(Next.getReachableBlock());
      if (P != Unreached && P != Without &&
          std::find(Seen.begin(), Seen.end(), P) == Seen.end())
        Seen.push_back(P);
    }
  }
  return false;
}

void WaitSearch::findWays() {
  for (const CFGBlock *B : Sorted) {
    const Expr *Condition =
        B->succ_size() == 2 ? B->getLastCondition() : nullptr;
    if (!Condition || Ways.size() > WaitMaxTests)
      continue;
    WordTest T = wordTest(Condition, At, Unit);
    const CFGBlock *True = B->succ_begin()->getReachableBlock();
    const CFGBlock *False = (B->succ_begin() + 1)->getReachableBlock();
    if (T.Symbol < 0 || at(True) == Unreached || at(False) == Unreached ||
        True == False)
      continue;
    const CFGBlock *Equal = T.EqualIfTrue ? True : False;
    const CFGBlock *Differs = T.EqualIfTrue ? False : True;
    Ways.push_back({T, T.Against, at(B), at(Equal),
                    comesAgain(*Differs, at(B), at(Equal))});
    if (!T.Against)
      Ways.push_back({T, NotZero, at(B), at(Differs),
                      comesAgain(*Equal, at(B), at(Differs))});
  }
}

bool isSameWord(const WordTest &A, const WordTest &B) {
  return A.Symbol == B.Symbol && A.Offset == B.Offset;
}

void WaitSearch::findStores(const WordTest &What) {
  Sets.assign(Sorted.size(), false);
  for (unsigned I = 0; I < Sorted.size(); ++I)
    for (const CFGElement &Element : *Sorted[I]) {
      std::optional<CFGStmt> S = Element.getAs<CFGStmt>();
      Location P = S ? changedBy(S->getStmt(), At, Unit.context()) : Location();
      if (P.In == Location::Kind::Variable && P.Offset == What.Offset &&
          Unit.symbol(*P.Var) == What.Symbol)
        Sets[I] = true;
    }
}

/// The blocks to which all ways lead through one of those that \p Leads says,
/// and not through a block that sets the word afterwards; false: there are
/// none.
bool WaitSearch::solve(const WordTest &What,
                       llvm::function_ref<bool(const WayOut &)> Leads) {
  if (std::none_of(Ways.begin(), Ways.end(), [&](const WayOut &W) {
        return W.GoesRound && isSameWord(W.Of, What) && Leads(W);
      }))
    return false;
  In.assign(Sorted.size(), true);
  In[0] = false;
  Behind.assign(Sorted.size(), true);
  for (unsigned I = 0; I < Sorted.size(); ++I)
    Behind[I] = !Sets[I];
  bool Changed = true;
  for (unsigned Sweep = 0; Changed; ++Sweep) {
    if (Sweep == WaitMaxSweeps)
      return false;
    Changed = false;
    for (unsigned I = 0; I < Sorted.size(); ++I) {
      bool Held = I && !Sorted[I]->pred_empty();
      for (const CFGBlock::AdjacentBlock &From : Sorted[I]->preds()) {
        unsigned P = at(From.getReachableBlock());
        Held &= P == Unreached || Behind[P] ||
                std::any_of(Ways.begin(), Ways.end(), [&](const WayOut &W) {
                  return W.From == P && W.To == I && isSameWord(W.Of, What) &&
                         Leads(W);
                });
      }
      bool Then = Held && !Sets[I];
      Changed |= Held != In[I] || Then != Behind[I];
      In[I] = Held;
      Behind[I] = Then;
    }
  }
  return true;
}

void WaitSearch::report(const WordTest &What, int64_t Is, int64_t Value,
                        Rows &Out) const {
  std::vector<std::pair<unsigned, unsigned>> Runs;
  for (unsigned I = 0; I < Sorted.size(); ++I) {
    if (!In[I])
      continue;
    // A run ends with a block that sets the word.
    if (!Runs.empty() && Runs.back().second + 1 == I && !Sets[I - 1])
      Runs.back().second = I;
    else
      Runs.emplace_back(I, I);
  }
  if (Runs.size() > WaitMaxRuns)
    return;
  for (auto [First, Last] : Runs)
    append(Out, {What.Symbol, What.Offset, What.Size, Is, Value, First, Last});
}

void WaitSearch::run(Rows &Out) {
  findWays();
  std::vector<WordTest> Done;
  for (size_t Number = 0; Number < Ways.size(); ++Number) {
    const WordTest What = Ways[Number].Of;
    if (std::any_of(Done.begin(), Done.end(),
                    [&](const WordTest &T) { return isSameWord(T, What); }))
      continue;
    Done.push_back(What);
    Sets.assign(Sorted.size(), false);
    // Of a word that is zero at first: somebody has set it.
    if (solve(What, [](const WayOut &W) {
          return W.Found && W.Found != OtherValue;
        })) {
      report(What, IsPassed, 0, Out);
      if (unsigned Exit = at(&Graph.getExit()); Exit != Unreached && In[Exit])
        append(Out, {What.Symbol, What.Offset, What.Size, IsPasses, 0, 0,
                     int64_t(Sorted.size()) - 1});
    }
    findStores(What);
    std::vector<uint16_t> Values;
    for (const WayOut &W : Ways)
      if (W.GoesRound && isSameWord(W.Of, What) &&
          std::find(Values.begin(), Values.end(), W.Found) == Values.end())
        Values.push_back(W.Found);
    for (uint16_t Value : Values)
      if (solve(What, [&](const WayOut &W) { return W.Found == Value; })) {
        bool GivesOn = false;
        for (unsigned I = 0; I < Sorted.size(); ++I)
          GivesOn |= In[I] && Sets[I];
        if (GivesOn)
          report(What, IsTurn, Value, Out);
      }
  }
}

/// What a function says by its result, as what a condition variable waits for:
/// true only where a word is not zero.
void waitTold(const CFG &Graph, size_t Blocks, Locations &At, UnitBuilder &Unit,
              Rows &Out) {
  const ReturnStmt *Only = nullptr;
  for (const CFGBlock *B : Graph)
    for (const CFGElement &Element : *B)
      if (std::optional<CFGStmt> S = Element.getAs<CFGStmt>())
        if (const auto *R = dyn_cast<ReturnStmt>(S->getStmt())) {
          if (Only)
            return;
          Only = R;
        }
  const Expr *Value = Only ? Only->getRetValue() : nullptr;
  if (!Value || !Value->getType()->isBooleanType())
    return;
  WordTest T = wordTest(Value, At, Unit);
  bool IsSet =
      T.Against ? T.EqualIfTrue && T.Against != OtherValue : !T.EqualIfTrue;
  if (T.Symbol >= 0 && IsSet)
    append(Out,
           {T.Symbol, T.Offset, T.Size, IsTold, 0, 0, int64_t(Blocks) - 1});
}

} // namespace

void waitedWords(const CFG &Graph, const Shape &Blocks, Locations &At,
                 UnitBuilder &Unit, Rows &Out) {
  if (Blocks.inOrder().empty() || Blocks.inOrder().size() > MostOrder)
    return; // positions would not be orders
  WaitSearch(Graph, Blocks, At, Unit).run(Out);
  waitTold(Graph, Blocks.inOrder().size(), At, Unit, Out);
}

} // namespace linemate
