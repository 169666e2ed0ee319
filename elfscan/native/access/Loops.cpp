//===- Loops.cpp - The loops of one function ------------------------------===//
//
// Owns the bodies of loops: their depths, the outermost one around a block, how
// many ways lead out of the inmost one, and which tests skip one.
//
//===----------------------------------------------------------------------===//

#include "Graph.h"

#include <algorithm>

namespace linemate {

namespace {

/// Loop bodies are walked once each; deeper nests than this would make that
/// more than linear, and are then counted only in part.
constexpr uint64_t LoopWorkPerBlock = 64;
constexpr uint8_t MaxLoopDepth = 255;
/// Blocks between the test that skips a loop and the loop.
constexpr unsigned MaxPreheader = 3;
/// Blocks that are looked at for a way to a loop past the test in front of it.
constexpr size_t MaxSkipped = 64;

} // namespace

/// How many blocks of the loop that was just marked lead out of it, and where.
void Graph::countExits(uint32_t Loop, uint32_t Header) {
  uint32_t Count = 0;
  for (uint32_t B : Body) {
    bool Leaves = false;
    for (uint32_t To : successors(Blocks[B]))
      if (Mark[To] != Loop) {
        Leaves = true;
        Exits.emplace_back(Header, To);
      }
    Count += Leaves;
  }
  for (uint32_t B : Body)
    if (!InnerSize[B] || Body.size() < InnerSize[B]) {
      InnerSize[B] = Body.size();
      WaysOut[B] = Count;
    }
}

/// Was a block first come to by way of \p Header?
bool Graph::isBelow(uint32_t B, uint32_t Header) const {
  return Entered[Header] <= Entered[B] && Entered[B] < Left[Header];
}

/// The body of a loop: its header and what reaches a back edge without
/// passing the header.  A loop may have entries besides (Havlak, TOPLAS 19(4),
/// 1997): what leads there from in front of it is no part of the loop.
void Graph::countLoops(const Plan &P, std::span<const Op> Ops,
                       const Convention &C) {
  uint32_t Handed = C.CallerSaved & ~C.Result;
  std::sort(BackEdges.begin(), BackEdges.end());
  Mark.assign(Blocks.size(), 0);
  OuterSize.assign(Blocks.size(), 0);
  InnerSize.assign(Blocks.size(), 0);
  uint64_t Work = 0, Limit = LoopWorkPerBlock * Blocks.size();
  for (size_t I = 0; I < BackEdges.size() && Work < Limit;) {
    uint32_t Header = BackEdges[I].first;
    uint32_t Loop = I + 1;
    Body.assign(1, Header);
    Mark[Header] = Loop;
    size_t Next = 0;
    for (; I < BackEdges.size() && BackEdges[I].first == Header; ++I)
      if (Mark[BackEdges[I].second] != Loop) {
        Mark[BackEdges[I].second] = Loop;
        Body.push_back(BackEdges[I].second);
      }
    for (Next = 1; Next < Body.size(); ++Next)
      for (uint32_t E = PredStart[Body[Next]]; E < PredStart[Body[Next] + 1];
           ++E) {
        ++Work;
        if (Mark[Preds[E]] == Loop || !isBelow(Preds[E], Header))
          continue;
        Mark[Preds[E]] = Loop;
        Body.push_back(Preds[E]);
      }
    size_t Known = Exits.size();
    countExits(Loop, Header);
    Work += Exits.size() - Known;
    bool IsNap = sleepsAgain(P, Ops, C);
    // Elsewhere flags and registers say otherwise what came of an exchange.
    bool IsRetry = IsNap || (P.Machine == Arch::X86_64 &&
                             triesAgain(Ops, Header, Loop, Handed));
    for (uint32_t B : Body) {
      if (Blocks[B].LoopDepth < MaxLoopDepth) {
        ++Blocks[B].LoopDepth;
        Blocks[B].Retries += IsRetry;
        Blocks[B].Naps += IsNap;
      }
      if (Body.size() > OuterSize[B]) {
        OuterSize[B] = Body.size();
        Outer[B] = Header;
      }
    }
  }
  // Around a sleep in no other loop it stays one: who sleeps there rests.
  for (Block &B : Blocks)
    if (B.Naps && B.Naps == B.LoopDepth) {
      B.Retries -= B.Naps;
      B.Naps = 0;
    }
}

/// Does a way of a branch lead straight into a loop, which the \p Other one
/// skips?  The test that skips a loop which would not run once is seldom the
/// one that counts.  One that only sleeps again is none.
bool Graph::entersLoop(uint32_t To, uint32_t Other, unsigned Depth) {
  for (unsigned Step = 0; Step < MaxPreheader; ++Step) {
    if (unsigned(Blocks[To].LoopDepth - Blocks[To].Naps) > Depth)
      return !comesTo(Other, To);
    if (Blocks[To].LastEdge - Blocks[To].FirstEdge != 1)
      return false;
    uint32_t Next = Edges[Blocks[To].FirstEdge];
    if (Blocks[Next].Order <= Blocks[To].Order)
      return false; // the next round
    To = Next;
  }
  return false;
}

/// Does a way lead from one block to another, back edges aside?
bool Graph::comesTo(uint32_t From, uint32_t To) {
  Stack.assign(1, From);
  for (size_t I = 0; I < Stack.size() && Stack.size() <= MaxSkipped; ++I) {
    if (Stack[I] == To)
      return true;
    for (uint32_t Next : successors(Blocks[Stack[I]]))
      if (Blocks[Next].Order > Blocks[Stack[I]].Order &&
          Blocks[Next].Order <= Blocks[To].Order &&
          std::ranges::find(Stack, Next) == Stack.end())
        Stack.push_back(Next);
  }
  return false;
}

} // namespace linemate
