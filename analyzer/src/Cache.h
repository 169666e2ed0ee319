//===- Cache.h - Facts of units that did not change ---------------*- C++
//-*-===//
//
// Owns a folder with a few files a unit, for the states in which it was read
// last: a change and its base take turns.  An entry counts only when every file
// that the unit read still has the same content and every path that it looked
// for in vain is still missing; times are never believed.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ANALYZER_CACHE_H
#define LINEMATE_ANALYZER_CACHE_H

#include "Database.h"
#include "FileCache.h"
#include "Flags.h"
#include "Overlay.h"
#include "Unit.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>
#include <string>
#include <vector>

namespace linemate {

class FactsCache {
public:
  /// \p Basis hashes what all entries depend on: the tool and its tables.
  /// \p Moved is where the files of the units are.
  FactsCache(std::string Folder, std::string Basis, Overlay Moved);

  static llvm::Error makeFolder(llvm::StringRef Folder);

  struct Hit {
    std::unique_ptr<llvm::MemoryBuffer> Entry;
    llvm::StringRef Json; ///< in Entry
    std::vector<std::string> Dropped;
  };
  /// The entry of a unit; without Entry where there is none that holds.
  Hit find(const Command &From, const Flags &F);

  /// What the facts of the unit that \p Files read last depend on, for store.
  static std::string inputsOf(FileCache &Files);

  /// Keeps facts with what inputsOf said where they were made.  Failing to is
  /// no error: the next run is slower.
  void store(const Command &From, const Flags &F,
             const UnitResult &Result) const;

  /// Removes the entries that were not used for longest beyond \p MaxBytes.
  void shrink(uint64_t MaxBytes) const;

private:
  /// Of all entries of a unit, without what tells them apart.
  std::string entryName(const Command &From, const Flags &F) const;
  Hit holds(llvm::StringRef Path);
  bool isUnchanged(llvm::StringRef Path, llvm::StringRef Hash);
  bool isMissing(llvm::StringRef Path);

  std::string Folder;
  std::string Basis;
  Overlay Moved;
  llvm::StringMap<std::string> Hashes; ///< of files as they are now
  llvm::StringMap<bool> Missing;
};

/// Identifies this build of the tool and the compilers it finds headers of.
std::string toolIdentity();

} // namespace linemate

#endif
