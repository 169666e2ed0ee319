//===- Reader.h - A file's static variables, from end to end ----*- C++ -*-===//
//
// Part of linemate, under the Apache License v2.0.
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_DWARF_READER_H
#define LINEMATE_DWARF_READER_H

#include "Split.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include <optional>
#include <string>
#include <vector>

namespace linemate::dwarf {

struct Options {
  std::string Path;
  std::string AlternatePath; // dwz' common file, "" none
  std::string PackagePath;   // .dwp, "" for PATH.dwp when it exists
  bool AllRecords = false;
  /// Names of records that are wanted, whether a variable needs them or not.
  std::vector<std::string> Wanted;
  /// Instructions at which local variables are wanted: then only the units that
  /// these are in are read.  Unwind rows are in FramesPath, "" for Path.
  std::optional<std::vector<uint64_t>> Locals;
  std::string FramesPath;
  /// Instructions whose way to the caller is wanted, and nothing else.
  std::optional<std::vector<uint64_t>> Unwind;
  bool Statistics = false; // one line on standard error
  unsigned Threads = 0;    // 0: one for each processor
};

/// Reads \p Opts.Path, and what it names, through \p Open and writes the
/// document to \p OS.
llvm::Error run(const Options &Opts, llvm::raw_ostream &OS,
                FileOpener Open = openRegularFile);

} // namespace linemate::dwarf

#endif
