//===- FileCache.h - The file system, read once -------------------*- C++
//-*-===//
//
// Owns contents and attributes of the files that units share, and which paths
// a unit asked for.  A run sees each file in one state.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ANALYZER_FILECACHE_H
#define LINEMATE_ANALYZER_FILECACHE_H

#include "Overlay.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/VirtualFileSystem.h"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace linemate {

/// 128 bits in hex.
std::string contentHash(llvm::StringRef Content);

class FileCache : public llvm::vfs::ProxyFileSystem {
public:
  explicit FileCache(Overlay Moved = {}); ///< of the machine
  /// Of another file system, one in memory.
  explicit FileCache(llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> Below);

  llvm::ErrorOr<llvm::vfs::Status> status(const llvm::Twine &Path) override;
  llvm::ErrorOr<std::unique_ptr<llvm::vfs::File>>
  openFileForRead(const llvm::Twine &Path) override;
  bool exists(const llvm::Twine &Path) override;

  /// From here on \p Folder has nothing of a name that \p Other has as well.
  void hideTwins(llvm::StringRef Folder, llvm::StringRef Other);

  /// Starts the record of a unit.
  void beginUnit();

  /// Files that were read since beginUnit.
  std::vector<std::string> filesRead() const;
  /// Paths that were asked for since beginUnit and are not there.
  std::vector<std::string> pathsMissing() const;

  /// SHA-256 of a file that was read, in hex; "" for others.
  std::string sha256(llvm::StringRef Path);
  /// A fast hash of the same, for telling whether it changed; "" for others.
  std::string contentHash(llvm::StringRef Path);

private:
  struct Entry {
    llvm::ErrorOr<llvm::vfs::Status> Status = std::error_code();
    std::unique_ptr<llvm::MemoryBuffer> Content;
    std::string Sha256;
    std::string ContentHash;
    unsigned AskedBy = 0; ///< number of the last unit that did
    unsigned ReadBy = 0;
  };
  Entry &entry(llvm::StringRef Path);

  Overlay Moved;
  std::function<llvm::ErrorOr<std::unique_ptr<llvm::MemoryBuffer>>(
      llvm::StringRef Path)>
      ReadFile;
  llvm::StringMap<std::unique_ptr<Entry>> Entries;
  llvm::StringSet<> Hidden;           ///< paths, which are no files
  llvm::StringSet<> WithoutTwins;     ///< folders
  std::vector<llvm::StringRef> Asked; ///< by this unit; keys of Entries
  std::vector<llvm::StringRef> Read;
  uint64_t HeldBytes = 0;
  unsigned Unit = 1;
};

} // namespace linemate

#endif
