//===- Location.h - Locations that name one static address ------*- C++ -*-===//
//
// Part of linemate, under the Apache License v2.0.
// SPDX-License-Identifier: Apache-2.0
//
// Owns the location and member-offset expressions.  Answers only for storage
// whose place is known before the program runs.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_DWARF_LOCATION_H
#define LINEMATE_DWARF_LOCATION_H

#include "Die.h"
#include <optional>

namespace linemate::dwarf {

struct StaticLocation {
  uint64_t Address = 0;
  int32_t Section = -1; // of relocatable files
  bool Tls = false;     // Address is an offset in the thread's block
  bool Piece = false;   // the optimizer split the variable; this is a part
};

/// The address of an expression that is one address (plus a constant), or its
/// first piece; none for registers, frames and computed values.
std::optional<StaticLocation> staticLocation(const UnitView &View,
                                             const Value &Expression);

/// A member's offset in bytes from an expression of DWARF 2; none where it
/// depends on the object, as in virtual base classes.
std::optional<uint64_t> memberOffset(const UnitView &View,
                                     const Value &Expression);

} // namespace linemate::dwarf

#endif
