//===- Knowledge.h - The vocabulary rows, indexed -----------------*- C++
//-*-===//
//
// Owns reading the rows below sharing/knowledge (and a project's own, which
// come first and win) and looking names up in them.  Judges nothing.
//
// Names of C functions are as they are; those of C++ are scopes joined by `::`
// without template arguments and inline namespaces (QualifiedName.h).
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ANALYZER_KNOWLEDGE_H
#define LINEMATE_ANALYZER_KNOWLEDGE_H

#include "Rows.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"

#include <cstdint>
#include <deque>
#include <utility>

namespace linemate {

/// Values as in LOCK_OP_COLUMNS.
enum class LockEffect : int64_t {
  Lock = 1,
  Unlock = 2,
  Init = 3,
  TryLock = 4,
  Wait = 5,
  TimedWait = 6, ///< goes on after a time, whatever happened
};

/// What a called function does to the lock behind its argument number Arg,
/// where `this` is 0.
struct LockCall {
  int Row; ///< index into Knowledge::locks()
  int Arg;
  LockEffect Effect;
  bool Shared;        ///< for reading
  bool Holds;         ///< whether somebody holds the lock because of it
  bool ZeroIsSuccess; ///< of an attempt
};

/// What constructing a guard with an argument of some type means.
enum class GuardMode : uint8_t { Locks, Defers, Tries, Adopts };

/// What a method of a guard does to the locks that it was made for.
enum class GuardCall : uint8_t { None, Lock, Unlock, TryLock, Release, Owns };

struct Guard {
  bool Shared = false;
  llvm::StringMap<GuardMode> Modes; ///< by type of argument
  llvm::StringMap<GuardCall> Methods;
};

/// Names to values: exact ones first, then globs in order.
template <typename T> class NameTable {
public:
  void add(llvm::StringRef Name, T Value);
  llvm::ArrayRef<T> find(llvm::StringRef Name) const;

private:
  llvm::StringMap<llvm::SmallVector<T, 2>> Exact;
  std::vector<std::pair<std::string, T>> Globs;
  mutable llvm::StringMap<llvm::SmallVector<T, 2>> Seen;
};

class Knowledge {
public:
  /// Reads the tables of \p Directory and, unless it is "", the file
  /// \p ProjectRows.
  static llvm::Expected<Knowledge> load(llvm::StringRef Directory,
                                        llvm::StringRef ProjectRows);

  llvm::ArrayRef<LockRow> locks() const { return Locks; }

  /// Of a C function by its name, of others by linkage name.
  llvm::ArrayRef<LockCall> lockCalls(llvm::StringRef Function) const {
    return Plain.find(Function);
  }
  /// Of a C++ function.
  llvm::ArrayRef<LockCall> qualifiedLockCalls(llvm::StringRef Function) const {
    return Qualified.find(plain(Function));
  }
  /// Of a method, by its name, of a lock row that names no methods itself.
  std::optional<LockCall> usualMethod(int Row, llvm::StringRef Method) const;

  /// Row of a lock type by name ("pthread_mutex_t", "std::mutex"), -1 none.
  int lockType(llvm::StringRef Name) const;

  /// A class whose objects hold locks while they live; null for others.
  const Guard *guard(llvm::StringRef Class) const;
  /// One that the source marks itself.
  const Guard &usualGuard() const { return UsualGuard; }
  /// \p Class is the type of an argument of a guard's constructor.
  GuardMode guardMode(const Guard &G, llvm::StringRef Class) const;

  /// The functions that start a thread; null for others.
  const ThreadRow *thread(llvm::StringRef Function) const;
  /// The classes whose constructor does; null for others.
  const ThreadRow *threadClass(llvm::StringRef Class) const;
  bool joins(llvm::StringRef Function) const;
  bool isBarrier(llvm::StringRef Function) const;
  bool makesBarrier(llvm::StringRef Function) const;
  /// Returns the number of the running thread, or of its processor.
  bool tellsThread(llvm::StringRef Function) const;

  /// Of everything that was read; part of the cache's keys.
  llvm::StringRef hash() const { return Hash; }

private:
  std::vector<LockRow> Locks;
  std::deque<ThreadRow> Threads;
  std::deque<Guard> Guards;
  std::vector<std::pair<std::string, NameList>> Inline;
  NameTable<LockCall> Plain, Qualified;
  llvm::StringMap<LockCall> UsualMethods;
  Guard UsualGuard;
  NameTable<int> LockTypes;
  NameTable<const Guard *> GuardTypes;
  NameTable<const ThreadRow *> ThreadFunctions, ThreadTypes;
  NameTable<bool> Joins, Barriers, BarrierMakers, ThreadNumbers;
  std::string Hash;

  std::string plain(llvm::StringRef Name) const;
  void add(VocabularyRows Rows);
  void addUsual(const VocabularyRows &Rows);
  void addLock(const LockRow &Row, int Number);
  void addCall(const LockRow &Row, const CalledRow &Call, LockCall What);
};

} // namespace linemate

#endif
