//===- Graph.cpp - The control flow of one function -----------------------===//
//
// Owns block building and how rarely blocks run.  Jump tables are read in
// JumpTable.cpp, loops are counted in Loops.cpp.
//
//===----------------------------------------------------------------------===//

#include "Graph.h"
#include "Bounds.h"
#include "Decoder.h"
#include "Failures.h"
#include "JumpTable.h"
#include "Periods.h"
#include "Rounds.h"
#include "Signs.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace linemate {

namespace {

/// Of code that only an exception or an unread switch leads to.
constexpr float RootChance = 0.1F;
constexpr float LeastChance = 1e-12F;
constexpr float LoopEntered = 0.88F;
/// The return heuristic: 72%.  That of source is in analyzer's Chance.cpp.
constexpr float ReturnsEarly = 0.28F;
/// Of numbers that are checked before they choose an element: below zero is out
/// of bounds as well, the opcode heuristic.
constexpr float IsOutOfBounds = IsNegative;
/// Of code from which nothing comes back: a program ends once.
constexpr float Ending = 1.0F / 1024;
/// Of code that each thread runs once, as it comes by again and again.
constexpr float FirstUse = 1.0F / 1024;

bool fallsThrough(const Op &O) {
  if (O.isCall())
    return !O.NeverReturns;
  return O.Next == Flow::Next || O.Next == Flow::Branch;
}

bool endsBlock(const Op &O) {
  return O.isCall() ? O.NeverReturns : O.Next != Flow::Next;
}

bool branches(const Op &O) {
  return O.Next == Flow::Branch || O.Next == Flow::Jump;
}

} // namespace

uint32_t opAt(std::span<const Op> Ops, uint64_t Address) {
  auto It = std::lower_bound(Ops.begin(), Ops.end(), Address,
                             [](const Op &O, uint64_t A) { return O.Ip < A; });
  if (It == Ops.end() || It->Ip != Address)
    return Ops.size();
  return It - Ops.begin();
}

void Graph::build(const Plan &P, std::span<const Op> Ops, uint64_t Begin,
                  uint64_t End, const Convention &C, Counts &Seen) {
  Blocks.clear();
  Edges.clear();
  if (Ops.empty())
    return;
  Leader.assign(Ops.size(), 0);
  Leader[0] = 1;
  readTables(P, Ops, Begin, End, Seen);
  for (uint32_t Target : Targets)
    Leader[Target] = 1;
  for (uint32_t I = 0; I < Ops.size(); ++I) {
    const Op &O = Ops[I];
    bool Broken = I + 1 < Ops.size() && Ops[I + 1].Ip != O.end();
    if ((endsBlock(O) || Broken) && I + 1 < Ops.size())
      Leader[I + 1] = 1;
    if (O.Rare >= Begin && O.Rare < End)
      if (uint32_t Target = opAt(Ops, O.Rare); Target < Ops.size())
        Leader[Target] = 1;
    if (!branches(O) || uint64_t(O.Imm) < Begin || uint64_t(O.Imm) >= End)
      continue;
    if (uint32_t Target = opAt(Ops, O.Imm); Target < Ops.size())
      Leader[Target] = 1;
  }
  BlockOf.resize(Ops.size());
  for (uint32_t I = 0; I < Ops.size(); ++I) {
    if (Leader[I]) {
      if (!Blocks.empty())
        Blocks.back().Last = I;
      Blocks.push_back({});
      Blocks.back().First = I;
    }
    BlockOf[I] = Blocks.size() - 1;
  }
  Blocks.back().Last = Ops.size();
  connect(Ops);
  findPredecessors();
  findKeyed(Ops);
  findBackEdges();
  Outer.assign(Blocks.size(), UINT32_MAX);
  WaysOut.assign(Blocks.size(), 0);
  Exits.clear();
  if (!BackEdges.empty())
    countLoops(P, Ops, C);
  orderBlocks();
  estimateRarity(P, Ops, C);
}

void Graph::readTables(const Plan &P, std::span<const Op> Ops, uint64_t Begin,
                       uint64_t End, Counts &Seen) {
  Tables.clear();
  Targets.clear();
  for (uint32_t I = 0; I < Ops.size(); ++I) {
    if (Ops[I].Next != Flow::IndirectJump)
      continue;
    ++Seen.IndirectJumps;
    uint32_t First = Targets.size();
    readJumpTable(P, Ops, I, Begin, End, Targets);
    if (Targets.size() == First)
      continue;
    ++Seen.JumpTables;
    Tables.push_back({I, First, uint32_t(Targets.size())});
  }
}

bool Graph::isSwitch(uint32_t Op) const {
  auto It =
      std::lower_bound(Tables.begin(), Tables.end(), Op,
                       [](const TableJump &T, uint32_t I) { return T.Op < I; });
  return It != Tables.end() && It->Op == Op;
}

void Graph::connect(std::span<const Op> Ops) {
  auto NextTable = Tables.begin();
  for (uint32_t B = 0; B < Blocks.size(); ++B) {
    Block &Current = Blocks[B];
    const Op &Last = Ops[Current.Last - 1];
    Current.FirstEdge = Edges.size();
    if (fallsThrough(Last) && B + 1 < Blocks.size() &&
        Ops[Current.Last].Ip == Last.end())
      Edges.push_back(B + 1);
    if (branches(Last))
      if (uint32_t Target = opAt(Ops, Last.Imm); Target < Ops.size())
        Edges.push_back(BlockOf[Target]);
    if (NextTable != Tables.end() && NextTable->Op == Current.Last - 1) {
      for (uint32_t T = NextTable->First; T < NextTable->Last; ++T)
        Edges.push_back(BlockOf[Targets[T]]);
      ++NextTable;
    }
    auto Mine = Edges.begin() + Current.FirstEdge;
    std::sort(Mine, Edges.end());
    Edges.erase(std::unique(Mine, Edges.end()), Edges.end());
    Current.LastEdge = Edges.size();
  }
  for (uint32_t Target : Edges)
    Blocks[Target].HasPredecessor = true;
  dropPadding(Ops);
}

/// Bytes that align a loop's head look like code that nothing jumps to and
/// that falls into the loop with unknown registers.  Nothing runs them.
void Graph::dropPadding(std::span<const Op> Ops) {
  auto IsInert = [](const Op &O) {
    return O.How == Transfer::None && O.Next == Flow::Next && !O.Clobbers &&
           O.Dst == NoReg && O.Written == NoReg &&
           (!O.MemCount || O.Mem[0].Kind == Access::None);
  };
  for (uint32_t B = 1; B < Blocks.size(); ++B) {
    Block &Current = Blocks[B];
    std::span Body = Ops.subspan(Current.First, Current.Last - Current.First);
    if (Current.HasPredecessor ||
        !std::all_of(Body.begin(), Body.end(), IsInert))
      continue;
    Current.LastEdge = Current.FirstEdge;
    Current.HasPredecessor = true; // so that no pass takes it for an entry
  }
}

void Graph::findPredecessors() {
  PredStart.assign(Blocks.size() + 1, 0);
  // Not all of Edges: dropPadding leaves some without a source.
  for (const Block &B : Blocks)
    for (uint32_t To : successors(B))
      ++PredStart[To + 1];
  for (uint32_t B = 0; B < Blocks.size(); ++B)
    PredStart[B + 1] += PredStart[B];
  Preds.resize(Edges.size());
  NextEdge.assign(PredStart.begin(), PredStart.end() - 1);
  for (uint32_t B = 0; B < Blocks.size(); ++B)
    for (uint32_t To : successors(Blocks[B]))
      Preds[NextEdge[To]++] = B;
}

/// Edges to a block that is still being visited, depth first.
void Graph::findBackEdges() {
  enum : uint8_t { White, Grey, Black };
  BackEdges.clear();
  Colour.assign(Blocks.size(), White);
  NextEdge.resize(Blocks.size());
  Entered.assign(Blocks.size(), 0);
  Left.assign(Blocks.size(), 0);
  uint32_t Clock = 0;
  for (uint32_t B = 0; B < Blocks.size(); ++B)
    NextEdge[B] = Blocks[B].FirstEdge;
  auto Visit = [&](uint32_t Root) {
    Stack.assign(1, Root);
    Colour[Root] = Grey;
    Entered[Root] = Clock++;
    while (!Stack.empty()) {
      uint32_t B = Stack.back();
      if (NextEdge[B] == Blocks[B].LastEdge) {
        Colour[B] = Black;
        Left[B] = Clock;
        Stack.pop_back();
        continue;
      }
      uint32_t To = Edges[NextEdge[B]++];
      if (Colour[To] == Grey) {
        BackEdges.emplace_back(To, B);
      } else if (Colour[To] == White) {
        Colour[To] = Grey;
        Entered[To] = Clock++;
        Stack.push_back(To);
      }
    }
  };
  for (uint32_t B = 0; B < Blocks.size(); ++B)
    if (Colour[B] == White && (B == 0 || !Blocks[B].HasPredecessor))
      Visit(B);
  for (uint32_t B = 0; B < Blocks.size(); ++B)
    if (Colour[B] == White)
      Visit(B);
}

/// The \p Nth way from a block: those out of its loop first, and of the others
/// the last one first where \p Mirrored.
uint32_t Graph::way(const Block &B, uint32_t Nth, bool Mirrored) const {
  std::span<const uint32_t> Ways = successors(B);
  if (!Mirrored || Ways.size() == 1)
    return Ways[Nth];
  auto Leaves = [&](uint32_t To) { return Blocks[To].LoopDepth < B.LoopDepth; };
  uint32_t Out = std::ranges::partition_point(Ways, Leaves) - Ways.begin();
  return Nth < Out ? Ways[Nth] : Ways[Out + Ways.size() - 1 - Nth];
}

/// Puts the ways out of loops, which \c countLoops found, in order.
void Graph::sortExits() {
  std::ranges::sort(Exits);
  Exits.erase(std::ranges::unique(Exits).begin(), Exits.end());
}

/// Where the loop with head \p B is left to.
std::span<const Graph::Exit> Graph::exitsOf(uint32_t B) const {
  if (!Blocks[B].LoopDepth)
    return {};
  auto Found = std::ranges::equal_range(Exits, B, {}, &Exit::first);
  return {Found.begin(), Found.end()};
}

/// Fills PostOrder: each block after those that it leads to, back edges aside,
/// and what a loop is left to before all of the loop.
void Graph::leaveBlocks(bool Mirrored) {
  PostOrder.clear();
  Colour.assign(Blocks.size(), 0);
  NextEdge.assign(Blocks.size(), 0);
  auto Visit = [&](uint32_t Root) {
    Stack.assign(1, Root);
    Colour[Root] = 1;
    while (!Stack.empty()) {
      uint32_t B = Stack.back();
      uint32_t Nth = NextEdge[B]++;
      std::span<const Exit> Out = exitsOf(B);
      if (Nth == Out.size() + Blocks[B].LastEdge - Blocks[B].FirstEdge) {
        PostOrder.push_back(B);
        Stack.pop_back();
        continue;
      }
      uint32_t To = Nth < Out.size()
                        ? Out[Mirrored ? Out.size() - 1 - Nth : Nth].second
                        : way(Blocks[B], uint32_t(Nth - Out.size()), Mirrored);
      if (!Colour[To]) {
        Colour[To] = 1;
        Stack.push_back(To);
      }
    }
  };
  for (uint32_t B = 0; B < Blocks.size(); ++B)
    if (!Colour[B] && (B == 0 || !Blocks[B].HasPredecessor))
      Visit(B);
  for (uint32_t B = 0; B < Blocks.size(); ++B)
    if (!Colour[B])
      Visit(B);
}

/// Numbers the blocks so that each comes after those that lead to it, and what
/// follows a loop after the whole loop: ways out are walked first, from its
/// head.
void Graph::orderBlocks() {
  sortExits();
  auto Deeper = [&](uint32_t A, uint32_t B) {
    return Blocks[A].LoopDepth < Blocks[B].LoopDepth;
  };
  for (const Block &B : Blocks) {
    auto First = Edges.begin() + B.FirstEdge, Last = Edges.begin() + B.LastEdge;
    if (Last - First == 2 && Deeper(First[1], First[0]))
      std::swap(First[0], First[1]);
    else if (Last - First > 2)
      std::stable_sort(First, Last, Deeper);
  }
  for (uint16_t Block::*Place : {&Block::Mirror, &Block::Order}) {
    leaveBlocks(Place == &Block::Mirror);
    uint32_t Number = 0;
    for (auto It = PostOrder.rbegin(); It != PostOrder.rend(); ++It)
      Blocks[*It].*Place = uint16_t(std::min<uint32_t>(Number++, UINT16_MAX));
  }
}

/// Blocks that nothing but the key of a branch leads to.
void Graph::findKeyed(std::span<const Op> Ops) {
  Keyed.clear();
  for (uint32_t I = 0; I < Ops.size(); ++I) {
    const Op &O = Ops[I];
    if (!O.Rare)
      continue;
    uint32_t At = opAt(Ops, O.Rare);
    if (At == Ops.size() || !Leader[At])
      continue;
    uint32_t B = BlockOf[At];
    if (B == 0 || PredStart[B] != PredStart[B + 1])
      continue;
    Blocks[B].HasPredecessor = false; // padding in front of it is none
    Blocks[B].IsKeyed = true;
    Keyed.push_back({I, B, std::exp2(O.Rarity / -4.0F)});
  }
}

/// Of the blocks that no other one leads to.
void Graph::startChances() {
  Chance.assign(Blocks.size(), 0.0F);
  for (uint32_t B = 0; B < Blocks.size(); ++B)
    if (B == 0 || !Blocks[B].HasPredecessor)
      Chance[B] = B == 0 ? 1.0F : RootChance;
  for (const KeyedBlock &K : Keyed)
    Chance[K.Block] = 0;
  for (const KeyedBlock &K : Keyed)
    Chance[K.Block] = std::max(Chance[K.Block], K.Chance);
}

/// Blocks from which all ways lead to calls that nothing comes back from.  What
/// stands behind another call and is jumped to as well need not follow it: that
/// call may be of a function of the program that does not return either.
void Graph::findEndings(std::span<const Op> Ops) {
  Ends.assign(Blocks.size(), 0);
  AnyEnds = false;
  for (uint32_t B : PostOrder) {
    std::span<const uint32_t> Ways = successors(Blocks[B]);
    const Op &Last = Ops[Blocks[B].Last - 1];
    if (Ways.empty())
      Ends[B] = Last.NeverReturns;
    else if (!Last.isCall() || predecessors(Ways[0]).size() == 1)
      Ends[B] =
          std::ranges::all_of(Ways, [this](uint32_t To) { return Ends[To]; });
    AnyEnds |= Ends[B];
  }
}

/// The ways from a block, which is come to with the chance \p Here, without
/// those to where the program or the thread ends: these are given theirs.
std::span<const uint32_t> Graph::goesOn(const Block &B, float Here) {
  std::span<const uint32_t> Ways = successors(B);
  if (!AnyEnds)
    return Ways;
  Alive.clear();
  for (uint32_t To : Ways)
    if (!Ends[To])
      Alive.push_back(To);
  if (Alive.empty() || Alive.size() == Ways.size())
    return Ways;
  for (uint32_t To : Ways)
    if (Ends[To])
      Chance[To] += Here * Ending;
  return Alive;
}

/// How rarely a run of the function comes to a block, leaving loop counts to
/// LoopDepth: 4 * -log2 of the chance, each way of a branch taken equally
/// often. After Wu and Larus (MICRO-27, 1994); an exit of a loop is as likely
/// as the loop, since every loop ends, a loop is entered more often than
/// skipped (Ball and Larus, PLDI 1993: 88%), a way that returns at once is
/// taken less often than one that goes on (28%), and calls seldom fail: a loop
/// that has another exit seldom ends so.
void Graph::estimateRarity(const Plan &P, std::span<const Op> Ops,
                           const Convention &C) {
  auto Result = int8_t(std::countr_zero(C.Result));
  auto Rarity = [](float C) {
    return uint8_t(
        std::lround(-4.0F * std::log2(std::clamp(C, LeastChance, 1.0F))));
  };
  startChances();
  findEndings(Ops);
  findOutOfBounds(*this, Ops, OutOfBounds);
  FirstUses = 0;
  Rounds InRounds(*this, Ops, Result);
  Periods ByClock(*this, P, Ops, C);
  Counted.clear();
  for (auto It = PostOrder.rbegin(); It != PostOrder.rend(); ++It) {
    Block &Current = Blocks[*It];
    // A loop's head comes before the rest of it, and back edges do not count.
    Current.IsOutermostHead = Outer[*It] == *It;
    if (Current.IsOutermostHead)
      Current.Reached = Rarity(Chance[*It]);
    else if (Outer[*It] < Blocks.size())
      Current.Reached = Blocks[Outer[*It]].Reached;
    unsigned Stays = 0, Leaves = 0;
    float Here = std::min(Chance[*It], 1.0F);
    std::span<const uint32_t> Ways = goesOn(Current, Here);
    for (uint32_t To : Ways)
      ++(Blocks[To].LoopDepth < Current.LoopDepth ? Leaves : Stays);
    auto OneIs = [&](auto &&Is, float Likely) {
      bool First = Is(Ways[0]);
      if (First == Is(Ways[1]))
        return false;
      Chance[Ways[First ? 0 : 1]] += Here * Likely;
      Chance[Ways[First ? 1 : 0]] += Here * (1 - Likely);
      return true;
    };
    bool Forks = Ways.size() == 2 && Stays == 2, Mixed = Stays == 1;
    // A loop that has no other exit ends so, however seldom that is.
    auto FailsTo = [&](std::optional<uint32_t> Failed, float Likely,
                       bool MayStay = false) {
      bool Leaving = Failed && Blocks[*Failed].LoopDepth < Current.LoopDepth;
      if (!Failed || (Mixed && (Leaving ? WaysOut[*It] <= 1 : !MayStay)))
        return false;
      for (uint32_t To : Ways)
        Chance[To] += Here * (To == *Failed ? Likely : Mixed ? 1 : 1 - Likely);
      return true;
    };
    bool MayFail = Ways.size() == 2 && (!Mixed || WaysOut[*It] > 1);
    // What a loop goes on to do where a call failed alone, it seldom does.
    if (Ways.size() == 2 &&
        FailsTo(failedWay(*this, P, Ops, *It, C), HasFailed, true))
      continue;
    if (auto InPeriod = Forks ? ByClock.seldomWay(*It) : std::nullopt) {
      OneIs([&](auto To) { return To == *InPeriod; }, TimeHasPassed);
      continue;
    }
    if (Forks &&
        (OneIs([&](auto To) { return isFirstUse(P, Ops, Current, To); },
               FirstUse) ||
         OneIs(
             [&](auto To) {
               return entersLoop(To, To == Ways[0] ? Ways[1] : Ways[0],
                                 Current.LoopDepth - Current.Naps);
             },
             LoopEntered)))
      continue;
    if (Ways.size() == 2 && Current.LoopDepth && (Forks || Mixed))
      if (auto Seldom = InRounds.seldom(*It)) {
        if (Forks) {
          for (uint32_t To : Ways)
            Chance[To] +=
                Here * (To == Seldom->To ? Seldom->Chance : 1 - Seldom->Chance);
          continue;
        }
        if (Blocks[Seldom->To].LoopDepth < Current.LoopDepth)
          Counted.emplace_back(*It, Seldom->Chance);
      }
    if (MayFail &&
        FailsTo(negativeWay(*this, Ops, *It, Result, Mixed), IsNegative))
      continue;
    if (Forks &&
        OneIs([&](auto To) { return OutOfBounds[To] != 0; }, IsOutOfBounds))
      continue;
    if (Forks && OneIs(
                     [&](auto To) {
                       return returnsEarly(Ops, To,
                                           To == Ways[0] ? Ways[1] : Ways[0]);
                     },
                     ReturnsEarly))
      continue;
    for (uint32_t To : Ways) {
      bool Exit = Blocks[To].LoopDepth < Current.LoopDepth;
      // A sleep that is made again is come to as often as it is made first.
      if (!Blocks[To].Naps || Blocks[To].Order > Current.Order)
        Chance[To] += Here / float(Exit ? Leaves : Stays);
    }
  }
  spreadRounds();
  for (uint32_t B = 0; B < Blocks.size(); ++B)
    Blocks[B].Rarity = Rarity(Chance[B]);
}

} // namespace linemate
