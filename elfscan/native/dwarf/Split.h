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
#include <mutex>

namespace linemate::dwarf {

class SplitFiles {
public:
  /// \p MainPath: the file with the skeletons.  \p PackagePath: "" for
  /// MAIN.dwp when that exists.
  SplitFiles(llvm::StringRef MainPath, llvm::StringRef PackagePath);

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
    llvm::DenseMap<uint64_t, Unit *> ById;
  };
  llvm::Expected<File *> openFile(llvm::StringRef Path);
  static llvm::Expected<const Unit *> join(File &From, const Unit &Skeleton,
                                           uint64_t Id, uint64_t AddrBase);

  std::string MainPath;
  std::string PackagePath;
  std::mutex Guard;
  std::vector<std::unique_ptr<File>> Files;
  File *Package = nullptr;
};

} // namespace linemate::dwarf

#endif
