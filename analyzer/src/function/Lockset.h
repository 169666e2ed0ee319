//===- Lockset.h - Which locks are held where --------------------*- C++
//-*-===//
//
// Owns the locks of one function and the forward dataflow that says which of
// them are surely held before each event.  Does not know what a lock call
// looks like.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ANALYZER_FUNCTION_LOCKSET_H
#define LINEMATE_ANALYZER_FUNCTION_LOCKSET_H

#include "Location.h"
#include "Shape.h"

#include <map>
#include <string>
#include <vector>

namespace linemate {

using LockMask = uint64_t;

/// One lock expression: equal places are equal locks.
struct HeldLock {
  Location Where;
  bool Shared = false;
  int Row = -1;
  std::string Text;
  bool Whole = false;   ///< nothing tells which object it is in
  bool Foreign = false; ///< found by a function that was called
};

/// What happens to locks at one point.
struct LockStep {
  enum class Op : uint8_t {
    Take,        ///< Lock is held; by Guard, if any
    Drop,        ///< every way of holding the place of Lock ends
    Absent,      ///< what the pointer number Lock leads to is not there
    GuardOwns,   ///< Guard has what it was made for, by other hands
    GuardTakes,  ///< Guard locks what it was made for
    GuardDrops,  ///< Guard unlocks, now or at its end
    GuardMoves,  ///< to Guard, from Other
    GuardForgets ///< Guard has nothing any more; the lock stays held
  };
  Op What;
  int Lock = -1;
  int Guard = -1;
  int Other = -1;
};

/// A step on one of the two ways behind a block.
struct EdgeStep {
  unsigned Block;
  unsigned Successor; ///< 0: the condition holds
  LockStep Step;
};

struct LockState {
  LockMask Held = 0;     ///< on every way here
  LockMask Released = 0; ///< the caller's, on every way here
  LockMask Freed = 0;    ///< the caller's, on some way here
  LockMask Absent = 0;   ///< there are none on any way here
  uint64_t Owned = 0;    ///< guards that may have something to unlock
  bool Known = true;     ///< false behind exceptions only
  bool Seen = false;
};

class Locksets {
public:
  /// A function with more lock expressions is given up.
  static constexpr unsigned MaxLocks = 64;

  /// Number of the lock, -1 if there are too many.
  int lock(const Location &Where, bool Shared, int Row, llvm::StringRef Text);
  /// Says of a lock behind a pointer that any of its kind may be it (Whole), or
  /// that it was found by what the function calls (Foreign).
  void note(int Lock, bool Whole, bool Foreign);
  /// What is behind a pointer that may be null: a number for LockStep.
  int pointer(const Location &To);
  /// Number of the guard that \p Key is, -1 if there are too many.
  int guard(const void *Key);
  /// The same, but -1 for what is no guard.
  int findGuard(const void *Key) const;
  /// What the guard was made for, as known so far.
  void bind(int Guard, int Lock);
  void bindLike(int Guard, int Other);
  LockMask bound(int Guard) const { return Guard < 0 ? 0 : Bound[Guard]; }

  void entry(int Lock) { AtEntry |= bit(Lock); }
  void step(unsigned Block, LockStep S) { Steps[Block].push_back(S); }
  void edge(EdgeStep S) { Edges.push_back(S); }

  bool isTrivial() const { return Locks.empty(); }
  const std::vector<HeldLock> &locks() const { return Locks; }

  /// Runs the dataflow.  False: given up, nothing is known of any point.
  bool solve(const clang::CFG &Graph, const Shape &Order);

  /// The state on entry to a block, after solve; steps replayed by the reader.
  const LockState &before(unsigned Block) const { return In[Block]; }
  void apply(const LockStep &S, LockState &State) const;

  LockMask required() const { return AtEntry; }
  /// What a call changes: held at every return, and dropped of the caller's.
  LockMask acquired() const {
    return AtExit.Held & ~AtEntry & ~AtExit.Released;
  }
  LockMask released() const {
    return (AtExit.Released & ~AtExit.Held) | (AtEntry & ~AtExit.Held);
  }
  /// The caller's that a call may give back.
  LockMask freed() const { return AtExit.Freed & ~AtExit.Held; }
  bool returns() const { return AtExit.Seen && AtExit.Known; }

private:
  std::vector<HeldLock> Locks;
  std::vector<const void *> Guards;
  std::vector<LockMask> Bound; ///< of each guard
  std::vector<LockMask> Alike; ///< of each lock: the same place
  std::vector<Location> Pointed;
  std::map<unsigned, std::vector<LockStep>> Steps;
  std::vector<EdgeStep> Edges;
  std::vector<LockState> In;
  LockMask AtEntry = 0;
  LockState AtExit;
  bool Overflow = false;

  bool meet(LockState &Into, const LockState &From) const;
  LockMask common(LockMask A, LockMask B) const;
  bool mayBe(const HeldLock &Released, const HeldLock &Held) const;

  static LockMask bit(int N) { return N < 0 ? 0 : LockMask(1) << N; }
};

} // namespace linemate

#endif
