//===- PackageIndex.h - Which parts of a package are a unit's ---*- C++ -*-===//
//
// Part of linemate, under the Apache License v2.0.
// SPDX-License-Identifier: Apache-2.0
//
// Owns .debug_cu_index and .debug_tu_index (DWARF 5, 7.3.5, and the GNU form
// before it).  LLVM's reader trusts the row numbers in them.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_DWARF_PACKAGEINDEX_H
#define LINEMATE_DWARF_PACKAGEINDEX_H

#include "llvm/ADT/StringRef.h"
#include <cstdint>
#include <vector>

namespace linemate::dwarf {

/// A unit's row: where its parts of the shared sections begin.
struct PackageRow {
  uint64_t Signature = 0;
  uint64_t Begin = 0; // in the section with the units
  uint64_t End = 0;
  uint64_t Abbrev = 0;
  uint64_t StrOffsets = 0;
  uint64_t Line = 0;
};

class PackageIndex {
public:
  /// \p InTypes: the units are in .debug_types.  False when damaged.
  bool parse(llvm::StringRef Data, bool Swap, bool InTypes);
  /// The row of the unit at \p Offset, or null.
  const PackageRow *find(uint64_t Offset) const;

private:
  std::vector<PackageRow> Rows; // by Begin
};

} // namespace linemate::dwarf

#endif
