//===- Rows.h - What libraries' locks and threads are called ------*- C++
//-*-===//
//
// Owns the rows of sharing/knowledge/libraries/*.json and of a project, key for
// key those of sharing/model/vocabulary.py, where each is explained, and their
// reading.  Looks nothing up.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ANALYZER_ROWS_H
#define LINEMATE_ANALYZER_ROWS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace linemate {

using NameList = std::vector<std::string>;

/// A function that does something to the lock behind its argument.
struct CalledRow {
  std::string Function;
  int Argument = 0;
  std::optional<int> Success;
  std::optional<int> Releases; ///< of a wait: the argument for the lock
  std::string Of;              ///< and the row of that lock
};

using Called = std::vector<CalledRow>;

struct LockRow {
  NameList Types;
  std::string Name;
  std::string Kind = "mutex";
  Called Lock, LockShared, TryLock, TryLockShared, Unlock, UnlockShared, Use,
      Wait, Init;
  int Success = 1;

  bool namesMethods() const;
};

struct GuardRow {
  NameList Types;
  bool Shared = false;
  NameList Defer, Adopt, Attempt;
  NameList Lock, Unlock, TryLock, Release, Owns;

  bool namesMethods() const;
};

struct ThreadRow {
  NameList Functions;
  NameList Types;
  std::optional<int> Entry;
  bool Many = false;
  std::string Runs;
};

/// Functions at which threads wait for each other.
struct BarrierRow {
  NameList Functions;
  NameList Makers; ///< functions that make what they wait at
};

struct VocabularyRows {
  std::map<std::string, NameList> InlineNamespaces;
  std::vector<LockRow> Locks;
  std::vector<GuardRow> Guards;
  std::vector<ThreadRow> Threads;
  NameList Joins, ResultWaits;
  std::vector<BarrierRow> Barriers;
  NameList ThreadNumbers;
};

/// Errors name \p Path and the key.
llvm::Expected<VocabularyRows> readRows(llvm::StringRef Text,
                                        llvm::StringRef Path);

} // namespace linemate

#endif
