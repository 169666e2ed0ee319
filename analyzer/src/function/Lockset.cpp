//===- Lockset.cpp - Which locks are held where ---------------------------===//
//
// Owns the fixed point: an intersection over all ways to a point, as in
// Eraser's and RacerX's static locksets and Clang's thread-safety analysis.
//
//===----------------------------------------------------------------------===//

#include "Lockset.h"

#include <algorithm>

using namespace clang;

namespace linemate {

namespace {

/// Each round looks at every block; locks that need more than this many nested
/// loops to settle do not exist in programs that people wrote.
constexpr unsigned MaxRounds = 24;

/// True if \p Into changed.
bool meet(LockState &Into, const LockState &From) {
  if (!Into.Seen || (!Into.Known && From.Known)) {
    Into = From;
    Into.Seen = true;
    return true;
  }
  if (!From.Known && Into.Known)
    return false;
  LockState Old = Into;
  Into.Held &= From.Held;
  Into.Released &= From.Released;
  Into.Owned |= From.Owned;
  return Old.Held != Into.Held || Old.Released != Into.Released ||
         Old.Owned != Into.Owned;
}

} // namespace

int Locksets::lock(const Location &Where, bool Shared, int Row,
                   llvm::StringRef Text) {
  LockMask Same = 0;
  for (size_t I = 0; I < Locks.size(); ++I) {
    if (!(Locks[I].Where == Where))
      continue;
    if (Locks[I].Row < 0)
      Locks[I].Row = Row;
    if (Locks[I].Shared == Shared)
      return int(I);
    Same |= bit(int(I));
  }
  if (Locks.size() == MaxLocks) {
    Overflow = true;
    return -1;
  }
  int Number = int(Locks.size());
  Locks.push_back({Where, Shared, Row, Text.str()});
  Alike.push_back(Same | bit(Number));
  for (int I = 0; I < Number; ++I)
    if (Same & bit(I))
      Alike[size_t(I)] |= bit(Number);
  return Number;
}

int Locksets::findGuard(const void *Key) const {
  auto It = std::find(Guards.begin(), Guards.end(), Key);
  return It == Guards.end() ? -1 : int(It - Guards.begin());
}

int Locksets::guard(const void *Key) {
  if (int Old = findGuard(Key); Old >= 0)
    return Old;
  if (Guards.size() == MaxLocks)
    return -1;
  Guards.push_back(Key);
  Bound.push_back(0);
  return int(Guards.size()) - 1;
}

void Locksets::bind(int Guard, int Lock) {
  if (Guard >= 0)
    Bound[size_t(Guard)] |= bit(Lock);
}

void Locksets::bindLike(int Guard, int Other) {
  if (Guard >= 0 && Other >= 0)
    Bound[size_t(Guard)] |= Bound[size_t(Other)];
}

void Locksets::apply(const LockStep &S, LockState &State) const {
  LockMask Mine = bound(S.Guard);
  switch (S.What) {
  case LockStep::Op::Take:
    State.Held |= bit(S.Lock);
    State.Owned |= bit(S.Guard);
    break;
  case LockStep::Op::Drop: {
    LockMask All = S.Lock < 0 ? 0 : Alike[size_t(S.Lock)];
    if (!(State.Held & All))
      State.Released |= bit(S.Lock);
    State.Held &= ~All;
    break;
  }
  case LockStep::Op::GuardOwns:
    State.Owned |= bit(S.Guard);
    break;
  case LockStep::Op::GuardTakes:
    State.Held |= Mine;
    State.Owned |= bit(S.Guard);
    break;
  case LockStep::Op::GuardDrops:
    if (State.Owned & bit(S.Guard))
      State.Held &= ~Mine;
    State.Owned &= ~bit(S.Guard);
    break;
  case LockStep::Op::GuardMoves:
    if (State.Owned & bit(S.Other))
      State.Owned |= bit(S.Guard);
    State.Owned &= ~bit(S.Other);
    break;
  case LockStep::Op::GuardForgets:
    State.Owned &= ~bit(S.Guard);
    break;
  }
}

bool Locksets::solve(const CFG &Graph, const Shape &Order) {
  In.assign(Graph.getNumBlockIDs(), {});
  for (LockState &S : In)
    S.Known = !Overflow;
  if (Overflow)
    return false;
  LockState &Start = In[Graph.getEntry().getBlockID()];
  Start.Seen = true;
  Start.Held = AtEntry;
  for (const CFGBlock *B : Order.inOrder())
    if (Order[B->getBlockID()].Handler) {
      In[B->getBlockID()].Seen = true;
      In[B->getBlockID()].Known = false;
    }
  std::sort(
      Edges.begin(), Edges.end(),
      [](const EdgeStep &A, const EdgeStep &B) { return A.Block < B.Block; });
  bool Changed = true;
  for (unsigned Round = 0; Changed; ++Round) {
    if (Round == MaxRounds) {
      for (LockState &S : In)
        S.Known = false;
      return false;
    }
    Changed = false;
    for (const CFGBlock *B : Order.inOrder()) {
      LockState State = In[B->getBlockID()];
      if (!State.Seen)
        continue;
      if (auto Mine = Steps.find(B->getBlockID()); Mine != Steps.end())
        for (const LockStep &S : Mine->second)
          apply(S, State);
      auto Ways = std::equal_range(Edges.begin(), Edges.end(),
                                   EdgeStep{B->getBlockID(), 0, {}},
                                   [](const EdgeStep &X, const EdgeStep &Y) {
                                     return X.Block < Y.Block;
                                   });
      unsigned Way = 0;
      for (const CFGBlock::AdjacentBlock &To : B->succs()) {
        const CFGBlock *S = To.getReachableBlock();
        // Unwinding ends guards in ways that the graph does not show.
        if (S && !Order[S->getBlockID()].Handler) {
          LockState Next = State;
          for (auto It = Ways.first; It != Ways.second; ++It)
            if (It->Successor == Way)
              apply(It->Step, Next);
          // A way that never returns says nothing of those that do.
          if (S != &Graph.getExit() || !B->hasNoReturnElement())
            Changed |= meet(In[S->getBlockID()], Next);
        }
        ++Way;
      }
    }
  }
  AtExit = In[Graph.getExit().getBlockID()];
  return true;
}

} // namespace linemate
