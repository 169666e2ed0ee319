//===- Readable.h - Readable names of C++ and Rust symbols ------*- C++ -*-===//
//
// Part of linemate, under the Apache License v2.0.
// SPDX-License-Identifier: Apache-2.0
//
// Answers a list of linkage names with readable ones: of C++ (Itanium C++ ABI)
// by the C++ runtime, of Rust's v0 scheme by LLVM.  What is plain text in a
// name (Rust's older scheme, most names of C++) the caller reads itself.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_DWARF_READABLE_H
#define LINEMATE_DWARF_READABLE_H

#include "llvm/ADT/StringRef.h"

namespace linemate::dwarf {

/// To be called once, before the process is confined.
void limitTimeOfNames();

/// Writes an answer for each name of \p Names to standard output, all of them
/// ended by a zero byte.  It is empty for what is no such name or has more than
/// 2,048 readable bytes.  Answers are missing at the end when time is up.
void writeReadable(llvm::StringRef Names);

} // namespace linemate::dwarf

#endif
