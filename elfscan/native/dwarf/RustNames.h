//===- RustNames.h - Readable names of Rust symbols -------------*- C++ -*-===//
//
// Part of linemate, under the Apache License v2.0.
// SPDX-License-Identifier: Apache-2.0
//
// Answers a list of linkage names of the v0 scheme with readable ones.  What
// the older scheme makes is plain text, which the caller reads itself.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_DWARF_RUST_NAMES_H
#define LINEMATE_DWARF_RUST_NAMES_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

namespace linemate::dwarf {

/// A line for each line of \p Names, empty for what is no such name or becomes
/// longer than \p Longest bytes.
void readableRustNames(llvm::StringRef Names, size_t Longest,
                       llvm::raw_ostream &Out);

} // namespace linemate::dwarf

#endif
