//===- Walk.h - One pass over a unit ----------------------------*- C++ -*-===//
//
// Part of linemate, under the Apache License v2.0.
// SPDX-License-Identifier: Apache-2.0
//
// Owns the pass that finds static variables, named types, functions and scopes.
// It passes over everything else without reading it; types are read later, and
// only those that a variable needs.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_DWARF_WALK_H
#define LINEMATE_DWARF_WALK_H

#include "Location.h"

namespace linemate::dwarf {

struct FoundVariable {
  uint64_t Offset;
  uint64_t Function; // innermost function's entry, 0: none
  StaticLocation Where;
};

struct Findings {
  std::vector<FoundVariable> Variables;
  std::vector<uint64_t> Records; // definitions with a name, when asked for
  std::vector<uint64_t> Typedefs;
  std::vector<uint64_t> Functions; // with children
  uint64_t EntryCount = 0;
};

enum WalkFlag : uint8_t {
  FindVariables = 1,
  FindRecords = 2,
  FindTypedefs = 4,
  FindFunctions = 8,
};

/// Walks \p View, fills its Scopes (C++ and other nesting languages) and
/// \p Found.  Damage ends the walk of this unit with a report.
void walkUnit(UnitView &View, unsigned Flags, Findings &Found,
              const Report &Problem);

/// Moves \p C from behind an entry's attributes over its children.
void skipChildren(const UnitView &View, const Abbreviation &A, Cursor &C);

} // namespace linemate::dwarf

#endif
