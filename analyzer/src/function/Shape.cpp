//===- Shape.cpp - Loops, order and frequency of a graph's blocks ---------===//
//
// Owns the same estimates for source that elfscan/native/access/Graph.cpp
// makes for machine code, so that both rank alike; what the source says on top
// (likely, noreturn, error returns) is in Chance.cpp.
//
//===----------------------------------------------------------------------===//

#include "Shape.h"

#include "Chance.h"
#include "Facts.h"
#include "SleepsAgain.h"

#include <algorithm>
#include <cmath>

using namespace clang;

namespace linemate {

namespace {

/// Loop bodies are walked once each; deeper nests than this would make that
/// more than linear, and are then counted only in part.
constexpr uint64_t LoopWorkPerBlock = 64;
constexpr uint8_t MaxLoopDepth = 255;
/// Of code that only an exception leads to.
constexpr float HandlerChance = 0.1F;
constexpr float LeastChance = 1e-6F;
/// Of a way that must end in abort, exit or the like.
constexpr float DoomedChance = 0.002F;
constexpr float LoopEntered = 0.88F;
/// Blocks between the test that skips a loop and the loop.
constexpr unsigned MaxPreheader = 3;

bool isHandler(const CFGBlock &B) {
  return isa_and_nonnull<CXXCatchStmt>(B.getLabel());
}

template <typename Visitor>
void eachSuccessor(const CFGBlock &B, Visitor Visit) {
  for (const CFGBlock::AdjacentBlock &To : B.succs())
    if (const CFGBlock *S = To.getReachableBlock())
      Visit(*S);
}

/// Depth first from \p Root; the visitors see blocks as they are left and
/// edges to blocks that are still being visited.  Where \p Mirrored, of ways
/// that stay in the same loops the other one is walked first.
template <typename Left, typename Back>
void walk(const CFGBlock &Root, std::vector<uint8_t> &Colour,
          const std::vector<BlockShape> &Blocks, const LoopExits &Exits,
          bool Mirrored, Left Leave, Back Retreat) {
  struct Frame {
    const CFGBlock *B;
    llvm::SmallVector<const CFGBlock *, 4> Ways;
    unsigned Next = 0;
  };
  // Ways out of loops first: then what follows a loop comes after all of it,
  // be it another loop of the same depth.
  auto Open = [&](const CFGBlock &B) {
    Frame F{&B, {}};
    eachSuccessor(B, [&](const CFGBlock &S) { F.Ways.push_back(&S); });
    auto Leaves = [&](const CFGBlock *S) {
      return Exits.lookup({B.getBlockID(), S->getBlockID()});
    };
    std::stable_sort(F.Ways.begin(), F.Ways.end(), [&](auto *X, auto *Y) {
      if (unsigned OfX = Leaves(X), OfY = Leaves(Y); OfX != OfY)
        return OfX > OfY;
      return Blocks[X->getBlockID()].LoopDepth <
             Blocks[Y->getBlockID()].LoopDepth;
    });
    if (Mirrored)
      std::reverse(std::find_if_not(F.Ways.begin(), F.Ways.end(), Leaves),
                   F.Ways.end());
    Colour[B.getBlockID()] = 1;
    return F;
  };
  if (Colour[Root.getBlockID()])
    return;
  std::vector<Frame> Stack;
  Stack.push_back(Open(Root));
  while (!Stack.empty()) {
    Frame &Top = Stack.back();
    if (Top.Next == Top.Ways.size()) {
      Colour[Top.B->getBlockID()] = 2;
      Leave(*Top.B);
      Stack.pop_back();
      continue;
    }
    const CFGBlock &To = *Top.Ways[Top.Next++];
    if (Colour[To.getBlockID()] == 1)
      Retreat(To, *Top.B);
    else if (!Colour[To.getBlockID()])
      Stack.push_back(Open(To));
  }
}

} // namespace

Shape::Shape(const CFG &Graph, const ASTContext &Context,
             const FixedValues &Fixed)
    : Graph(Graph), Context(Context), Said(Graph, Context), Fixed(Fixed),
      InRounds(Graph, Context), ByClock(Graph, Context),
      OfArrays(Graph, Context) {
  Blocks.resize(Graph.getNumBlockIDs());
  reach();
  if (!BackEdges.empty())
    countLoops();
  sort();
  findDoomed();
  estimate();
}

void Shape::reach() {
  std::vector<uint8_t> Colour(Blocks.size());
  auto Leave = [&](const CFGBlock &B) {
    Blocks[B.getBlockID()].Reached = true;
  };
  auto Retreat = [&](const CFGBlock &To, const CFGBlock &From) {
    BackEdges.emplace_back(To.getBlockID(), From.getBlockID());
  };
  walk(Graph.getEntry(), Colour, Blocks, Exits, false, Leave, Retreat);
  for (const CFGBlock *B : Graph)
    if (isHandler(*B)) {
      Blocks[B->getBlockID()].Handler = true;
      walk(*B, Colour, Blocks, Exits, false, Leave, Retreat);
    }
}

/// The body of a loop: its header and what reaches a back edge without passing
/// the header.
void Shape::countLoops() {
  std::sort(BackEdges.begin(), BackEdges.end());
  std::vector<const CFGBlock *> ById(Blocks.size());
  for (const CFGBlock *B : Graph)
    ById[B->getBlockID()] = B;
  std::vector<uint32_t> Seen(Blocks.size());
  std::vector<unsigned> Body;
  uint64_t Work = 0, Limit = LoopWorkPerBlock * Blocks.size();
  for (size_t I = 0; I < BackEdges.size() && Work < Limit;) {
    unsigned Header = BackEdges[I].first;
    uint32_t Loop = I + 1;
    Body.assign(1, Header);
    Seen[Header] = Loop;
    for (; I < BackEdges.size() && BackEdges[I].first == Header; ++I)
      if (Seen[BackEdges[I].second] != Loop) {
        Seen[BackEdges[I].second] = Loop;
        Body.push_back(BackEdges[I].second);
      }
    for (size_t Next = 1; Next < Body.size(); ++Next)
      for (const CFGBlock::AdjacentBlock &From : ById[Body[Next]]->preds()) {
        ++Work;
        const CFGBlock *P = From.getReachableBlock();
        if (!P || !Blocks[P->getBlockID()].Reached ||
            Seen[P->getBlockID()] == Loop)
          continue;
        Seen[P->getBlockID()] = Loop;
        Body.push_back(P->getBlockID());
      }
    if (sleepsAgain(Body, ById))
      continue;
    uint32_t Leaving = 0;
    for (unsigned B : Body) {
      if (Blocks[B].LoopDepth < MaxLoopDepth)
        ++Blocks[B].LoopDepth;
      if (Body.size() > Blocks[B].OuterSize) {
        Blocks[B].OuterSize = Body.size();
        Blocks[B].Outer = Header;
      }
      bool Leaves = false;
      eachSuccessor(*ById[B], [&](const CFGBlock &S) {
        if (Seen[S.getBlockID()] == Loop)
          return;
        Leaves = true;
        ++Exits[{B, S.getBlockID()}];
      });
      Leaving += Leaves;
    }
    countExits(Body, Leaving);
  }
  for (const auto &[Header, From] : BackEdges)
    Blocks[Header].IsOutermostHead = Blocks[Header].LoopDepth == 1;
}

/// So many blocks of a loop have a way out of it.
void Shape::countExits(const std::vector<unsigned> &Body, uint32_t Count) {
  for (unsigned B : Body)
    if (!Blocks[B].InnerSize || Body.size() < Blocks[B].InnerSize) {
      Blocks[B].InnerSize = Body.size();
      Blocks[B].InnerExits = Count;
    }
}

void Shape::sort() {
  for (uint16_t BlockShape::*Location :
       {&BlockShape::Mirror, &BlockShape::Order}) {
    leaveBlocks(Location == &BlockShape::Mirror);
    uint32_t Number = 0;
    for (const CFGBlock *B : Sorted)
      Blocks[B->getBlockID()].*Location =
          uint16_t(std::min<uint32_t>(Number++, MostOrder));
  }
}

/// Fills Sorted: each block after those that lead to it.
void Shape::leaveBlocks(bool Mirrored) {
  Sorted.clear();
  std::vector<uint8_t> Colour(Blocks.size());
  auto Leave = [&](const CFGBlock &B) { Sorted.push_back(&B); };
  auto Retreat = [](const CFGBlock &, const CFGBlock &) {};
  // In reverse: what is left first stands last, so handlers before the rest.
  for (const CFGBlock *B : Graph)
    if (Blocks[B->getBlockID()].Handler)
      walk(*B, Colour, Blocks, Exits, Mirrored, Leave, Retreat);
  walk(Graph.getEntry(), Colour, Blocks, Exits, Mirrored, Leave, Retreat);
  std::reverse(Sorted.begin(), Sorted.end());
}

void Shape::findDoomed() {
  Doomed.assign(Blocks.size(), false);
  for (auto It = Sorted.rbegin(); It != Sorted.rend(); ++It) {
    const CFGBlock &B = **It;
    bool All = true, Any = false;
    eachSuccessor(B, [&](const CFGBlock &S) {
      Any = true;
      All &= Doomed[S.getBlockID()];
    });
    Doomed[B.getBlockID()] = B.hasNoReturnElement() || (Any && All);
  }
}

/// Does a way of a branch lead straight into a loop?  The test that skips a
/// loop which would not run once is seldom the one that counts.
bool Shape::entersLoop(const CFGBlock *To, unsigned Depth) const {
  for (unsigned Step = 0; To && Step < MaxPreheader; ++Step) {
    if (Blocks[To->getBlockID()].LoopDepth > Depth)
      return true;
    if (To->succ_size() != 1)
      return false;
    To = To->succ_begin()->getReachableBlock();
  }
  return false;
}

/// Does a branch always take its first way, or never?  Of a loop's own test
/// that says less: what it would be for it to run is another guess.
std::optional<bool> Shape::always(const CFGBlock &B) const {
  const Stmt *Terminator = B.getTerminatorStmt();
  if (!isa_and_nonnull<IfStmt, BinaryOperator, ConditionalOperator>(Terminator))
    return std::nullopt;
  const Expr *Condition = B.getLastCondition();
  return Condition ? decided(Condition, Fixed) : std::nullopt;
}

/// The chance of the first of two ways that stay in the same loops.
float Shape::chanceOfFirst(const CFGBlock &B) const {
  const CFGBlock *First = B.succ_begin()->getReachableBlock();
  const CFGBlock *Second = (B.succ_begin() + 1)->getReachableBlock();
  bool FirstDies = Doomed[First->getBlockID()];
  if (FirstDies != Doomed[Second->getBlockID()])
    return FirstDies ? DoomedChance : 1 - DoomedChance;
  if (std::optional<bool> Failed = Said.Failed.ifTrue(B))
    return *Failed ? FailedChance : 1 - FailedChance;
  if (std::optional<bool> Seldom = ByClock.firstIsSeldom(B))
    return *Seldom ? FailedChance : 1 - FailedChance;
  unsigned Depth = Blocks[B.getBlockID()].LoopDepth;
  bool Enters = entersLoop(First, Depth);
  if (Enters != entersLoop(Second, Depth))
    return Enters ? LoopEntered : 1 - LoopEntered;
  if (Depth)
    if (std::optional<float> Seldom = InRounds.chanceOfFirst(B))
      return *Seldom;
  if (std::optional<float> Within = OfArrays.chanceOfFirst(B))
    return *Within;
  return chanceOfTrue(B, Context, Said);
}

/// What is in one loop with an inner one that is surely run, and goes round so
/// often as a large constant says, is done that much more seldom.  Of one that
/// something else may end, as a wait for so many rounds at most, it says no
/// more than that.
void Shape::spreadRounds(std::vector<float> &Chance) const {
  for (const CFGBlock *Exit : Sorted) {
    const BlockShape &Inner = Blocks[Exit->getBlockID()];
    if (Inner.LoopDepth < 2 || Inner.InnerExits > 1)
      continue;
    std::optional<float> OfExit = InRounds.chanceOfLeaving(*Exit);
    if (!OfExit || *OfExit > SeldomInner ||
        Chance[Exit->getBlockID()] < SurelyRun * Chance[Inner.Outer])
      continue;
    for (size_t B = 0; B < Blocks.size(); ++B)
      if (Blocks[B].LoopDepth && Blocks[B].Outer == Inner.Outer &&
          Blocks[B].LoopDepth < Inner.LoopDepth)
        Chance[B] *= *OfExit * UnknownRounds;
  }
}

/// How rarely a run of the function comes to a block, leaving loop counts to
/// LoopDepth: 4 * -log2 of the chance.  After Wu and Larus (MICRO-27, 1994); an
/// exit of a loop is as likely as the loop, since every loop ends, but if it
/// has another one and a call failed.
void Shape::estimate() {
  std::vector<float> Chance(Blocks.size(), 0.0F);
  Chance[Graph.getEntry().getBlockID()] = 1.0F;
  for (const CFGBlock *B : Sorted)
    if (Blocks[B->getBlockID()].Handler)
      Chance[B->getBlockID()] = HandlerChance;
  for (const CFGBlock *B : Sorted) {
    unsigned Depth = Blocks[B->getBlockID()].LoopDepth;
    unsigned Stays = 0, Leaves = 0;
    bool Dies = false;
    eachSuccessor(*B, [&](const CFGBlock &S) {
      ++(Blocks[S.getBlockID()].LoopDepth < Depth ? Leaves : Stays);
      Dies |= Doomed[S.getBlockID()];
    });
    float Here = std::min(Chance[B->getBlockID()], 1.0F);
    float First = -1, OfExit = 1, OfStay = 1;
    if (Stays + Leaves == 2 && B->succ_size() == 2) {
      // Of a test that leaves a loop, only strong evidence counts.
      float Guess = chanceOfFirst(*B);
      bool Strong =
          Dies || Guess <= UnlikelyChance || Guess >= 1 - UnlikelyChance;
      if (std::optional<bool> Always = always(*B))
        First = *Always ? 1 : 0;
      else if (Stays == 2 || Leaves == 2 || (Strong && !Depth) || Dies)
        First = Guess;
      // A loop that has another exit seldom ends with a call that failed.
      const CFGBlock *To = B->succ_begin()->getReachableBlock();
      float Out =
          Blocks[To->getBlockID()].LoopDepth < Depth ? Guess : 1 - Guess;
      if (Leaves == 1 && Out <= IsNegative && mayAskOfFailure(*B) &&
          Blocks[B->getBlockID()].InnerExits > 1)
        OfExit = Out;
      // What a loop goes on to do where a call failed alone, it seldom does.
      std::optional<bool> Failed =
          Leaves == 1 ? Said.Failed.ifTrue(*B) : std::nullopt;
      if (Failed && *Failed == (Blocks[To->getBlockID()].LoopDepth >= Depth))
        OfStay = FailedChance;
    }
    bool IsFirst = true;
    eachSuccessor(*B, [&](const CFGBlock &S) {
      bool Exit = Blocks[S.getBlockID()].LoopDepth < Depth;
      float Share = 1.0F / float(Exit ? Leaves : Stays);
      if (First >= 0)
        Share = IsFirst ? First : 1 - First;
      else
        Share *= Exit ? OfExit : OfStay;
      IsFirst = false;
      Chance[S.getBlockID()] += Here * Share;
    });
  }
  spreadRounds(Chance);
  for (size_t B = 0; B < Blocks.size(); ++B) {
    float C = std::clamp(Chance[B], LeastChance, 1.0F);
    Blocks[B].Rarity = uint8_t(std::lround(-4.0F * std::log2(C)));
  }
}

} // namespace linemate
