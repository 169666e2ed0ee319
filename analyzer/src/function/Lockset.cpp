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

/// Is \p Lock in what a pointer to \p Object leads to?
bool isBehind(const Location &Lock, const Location &Object) {
  return Lock.In == Object.In && Lock.Param == Object.Param &&
         Lock.Root == Object.Root && !Lock.Indexed;
}

/// Is \p Lock a member that an object like that of \p Other has as well?
bool isSameMember(const Location &Lock, const Location &Other) {
  const RecordDecl *Of =
      Other.In == Location::Kind::Variable
          ? Other.Var->getType()->getBaseElementTypeUnsafe()->getAsRecordDecl()
          : Other.Record;
  return Lock.Record && Of &&
         Lock.Record->getCanonicalDecl() == Of->getCanonicalDecl() &&
         Lock.Offset == Other.Offset;
}

} // namespace

/// What is held on either of two ways: exclusively here and shared there is
/// shared.
LockMask Locksets::common(LockMask A, LockMask B) const {
  LockMask Both = A & B;
  for (size_t I = 0; I < Locks.size(); ++I)
    if (Locks[I].Shared && (A & Alike[I]) && (B & Alike[I]))
      Both |= bit(int(I));
  return Both;
}

/// True if \p Into changed.  Where there is no lock it is as on the other way.
bool Locksets::meet(LockState &Into, const LockState &From) const {
  if (!Into.Seen || (!Into.Known && From.Known)) {
    Into = From;
    Into.Seen = true;
    return true;
  }
  if (!From.Known && Into.Known)
    return false;
  LockState Old = Into;
  LockMask None = Into.Absent & From.Absent;
  Into.Held = common(Into.Held | Into.Absent, From.Held | From.Absent) & ~None;
  Into.Released =
      (Into.Released | Into.Absent) & (From.Released | From.Absent) & ~None;
  Into.Freed |= From.Freed;
  Into.Owned |= From.Owned;
  Into.Absent = None;
  return Old.Held != Into.Held || Old.Released != Into.Released ||
         Old.Owned != Into.Owned || Old.Freed != Into.Freed ||
         Old.Absent != Into.Absent;
}

/// May what is released be that one, which another expression took?  One of
/// the two is behind a pointer of which only the type is known.
bool Locksets::mayBe(const HeldLock &Released, const HeldLock &Held) const {
  auto Says = [](const HeldLock &A, const HeldLock &B) {
    return A.Where.In == Location::Kind::Record && !A.Where.Indexed &&
           (A.Whole || isSameMember(A.Where, B.Where));
  };
  return (Released.Row < 0 || Held.Row < 0 || Released.Row == Held.Row) &&
         (Says(Released, Held) || Says(Held, Released));
}

void Locksets::note(int Lock, bool Whole, bool Foreign) {
  if (Lock < 0)
    return;
  Locks[size_t(Lock)].Whole |= Whole;
  Locks[size_t(Lock)].Foreign |= Foreign;
}

int Locksets::pointer(const Location &To) {
  Pointed.push_back(To);
  return int(Pointed.size()) - 1;
}

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
    if (!(State.Held & All) && S.Lock >= 0) {
      State.Released |= bit(S.Lock);
      State.Freed |= bit(S.Lock);
      // Guards end by themselves what they took.
      LockMask Guarded = 0;
      for (size_t I = 0; I < Guards.size(); ++I)
        Guarded |= State.Owned & bit(int(I)) ? Bound[I] : 0;
      for (size_t I = 0; I < Locks.size(); ++I)
        if ((State.Held & ~Guarded & bit(int(I))) &&
            mayBe(Locks[size_t(S.Lock)], Locks[I]))
          All |= bit(int(I));
    }
    State.Held &= ~All;
    break;
  }
  case LockStep::Op::Absent:
    for (size_t I = 0; I < Locks.size(); ++I)
      if (isBehind(Locks[I].Where, Pointed[size_t(S.Lock)]))
        State.Absent |= bit(int(I));
    break;
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
