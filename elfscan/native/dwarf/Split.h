//===- Split.h - Units that live in .dwo and .dwp files ---------*- C++ -*-===//
//
// Part of linemate, under the Apache License v2.0.
// SPDX-License-Identifier: Apache-2.0
//
// Owns the files of split DWARF and joins each skeleton with its unit.  Used by
// all threads; guarded inside.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_DWARF_SPLIT_H
#define LINEMATE_DWARF_SPLIT_H

#include "Unit.h"
#include "llvm/ADT/StringMap.h"
#include <mutex>
#include <unordered_map>

namespace linemate::dwarf {

/// Opens a file by its path; null where there is none.
using FileOpener = std::function<llvm::Expected<std::unique_ptr<Object>>(
    llvm::StringRef Path)>;

/// What opens files in earnest.
llvm::Expected<std::unique_ptr<Object>> openRegularFile(llvm::StringRef Path);

class SplitFiles {
public:
  /// \p MainPath: the file with the skeletons.  \p PackagePath: "" for
  /// MAIN.dwp when that exists.
  SplitFiles(llvm::StringRef MainPath, llvm::StringRef PackagePath,
             FileOpener Open = openRegularFile);

  /// Opens the package.  Fails only when one was named and cannot be read.
  llvm::Error openPackage();

  /// The full unit of \p Skeleton, from the package, from the compilation
  /// directory, or from beside the main file.
  llvm::Expected<const Unit *> find(const Unit &Skeleton, uint64_t Id,
                                    llvm::StringRef Name,
                                    llvm::StringRef Directory,
                                    uint64_t AddrBase);

private:
  struct File {
    std::unique_ptr<Object> Contents;
    std::unique_ptr<UnitList> Units;
    std::unordered_map<uint64_t, Unit *> ById; ///< any id is a key
  };
  /// Null where there is no such file.  Each is read once.
  llvm::Expected<File *> openFile(llvm::StringRef Path);
  llvm::Expected<std::unique_ptr<File>> readFile(llvm::StringRef Path) const;
  static llvm::Expected<const Unit *> join(File &From, const Unit &Skeleton,
                                           uint64_t Id, uint64_t AddrBase);

  std::string MainPath;
  std::string PackagePath;
  FileOpener Open;
  std::mutex Guard;
  struct Attempt {
    std::unique_ptr<File> Opened; // null: see Failure
    std::string Failure;          // "": not there
  };
  llvm::StringMap<Attempt> Files;
  File *Package = nullptr;
};

} // namespace linemate::dwarf

#endif
