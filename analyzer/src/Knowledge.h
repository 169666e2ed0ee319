//===- Knowledge.h - The vocabulary rows, indexed -----------------*- C++
//-*-===//
//
// Owns reading sharing/knowledge/*.json (and a project's own rows, which come
// first and win) and looking names up in it.  Judges nothing.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ANALYZER_KNOWLEDGE_H
#define LINEMATE_ANALYZER_KNOWLEDGE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Error.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace llvm::json {
class Value;
class Array;
class Object;
} // namespace llvm::json

namespace linemate {

/// Values as in LOCK_OP_COLUMNS.
enum class LockEffect : int64_t { Lock = 1, Unlock = 2, Init = 3, TryLock = 4 };

struct LockRow {
  std::string Name;
  std::string Kind;
  std::vector<std::string> Types;
};

/// What a called function does to the lock behind its argument number Arg,
/// where `this` is 0.
struct LockCall {
  int Row; ///< index into Knowledge::locks()
  int Arg;
  LockEffect Effect;
  bool Shared; ///< for reading
};

struct ThreadRow {
  int Entry; ///< argument that is the function
  bool Many;
};

/// sharing.model.image.AccessKind of what a called function does with the
/// bytes behind its argument.
enum class CalledAccess { Load, Store, Rmw };

struct AccessCall {
  int Arg;
  CalledAccess Kind;
};

/// Names to rows: exact ones first, then globs in order.
class NameTable {
public:
  void add(llvm::StringRef Name, int Row);
  /// -1 for none.
  int find(llvm::StringRef Name) const;

private:
  llvm::StringMap<int> Exact;
  std::vector<std::pair<std::string, int>> Globs;
  mutable llvm::StringMap<int> Seen;
};

class Knowledge {
public:
  /// Reads the tables of \p Directory and, unless it is "", the file
  /// \p ProjectRows: an object with `locks` (rows as in locks.json),
  /// `threads` (rows as in threads.json) and `atomic_types`, each optional.
  static llvm::Expected<Knowledge> load(llvm::StringRef Directory,
                                        llvm::StringRef ProjectRows);

  llvm::ArrayRef<LockRow> locks() const { return Locks; }

  /// By linkage name; globs of mangled names included.
  llvm::ArrayRef<LockCall> lockCalls(llvm::StringRef Function) const;

  /// Row of a lock type by name ("pthread_mutex_t", "std::mutex"), -1 none.
  int lockType(llvm::StringRef Name) const;

  /// The functions that start a thread; null for others.
  const ThreadRow *thread(llvm::StringRef Function) const;
  const ThreadRow *signalHandler(llvm::StringRef Function) const;
  bool joins(llvm::StringRef Function) const;

  /// The bytes that a library function or builtin accesses, by the prefix of
  /// its name (as access.json states them).
  llvm::ArrayRef<AccessCall> accesses(llvm::StringRef Function) const;

  bool isAtomicType(llvm::StringRef Name) const;

  /// Of everything that was read; part of the cache's keys.
  llvm::StringRef hash() const { return Hash; }

private:
  llvm::Error readLocks(const llvm::json::Value &Document,
                        llvm::StringRef Path);
  llvm::Error readThreads(const llvm::json::Object &Document,
                          llvm::StringRef Path);
  llvm::Error readAccess(const llvm::json::Object &Document,
                         llvm::StringRef Path);

  std::vector<LockRow> Locks;
  llvm::StringMap<llvm::SmallVector<LockCall, 2>> LockCalls;
  std::vector<std::pair<std::string, LockCall>> LockGlobs;
  mutable llvm::StringMap<llvm::SmallVector<LockCall, 2>> GlobSeen;
  llvm::StringMap<ThreadRow> Threads;
  llvm::StringMap<ThreadRow> Signals;
  llvm::StringSet<> Joins;
  std::vector<std::pair<std::string, AccessCall>> AccessPrefixes;
  mutable llvm::StringMap<llvm::SmallVector<AccessCall, 2>> AccessSeen;
  NameTable LockTypes;
  NameTable AtomicTypes;
  std::string Hash;
};

} // namespace linemate

#endif
