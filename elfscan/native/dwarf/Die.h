//===- Die.h - One unit's entries and their attributes ----------*- C++ -*-===//
//
// Part of linemate, under the Apache License v2.0.
// SPDX-License-Identifier: Apache-2.0
//
// Owns attribute values: forms, strings, references, indexed addresses.  A
// UnitView is one thread's way to read a unit; units themselves are shared.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_DWARF_DIE_H
#define LINEMATE_DWARF_DIE_H

#include "LineFiles.h"
#include "Unit.h"
#include <array>
#include <memory>

namespace linemate::dwarf {

struct Value {
  uint16_t Form = 0;
  uint64_t Number = 0;   // integer, offset, index or signature
  uint64_t Position = 0; // section offset of the value's first byte
  llvm::StringRef Bytes; // of a block, expression or inline string
};

class Attributes {
public:
  bool has(Slot S) const { return Present & (uint64_t(1) << S); }
  const Value &operator[](Slot S) const { return Values[S]; }
  /// The number, or \p Default when absent or not a constant.
  uint64_t number(Slot S, uint64_t Default = 0) const;
  /// Whether a constant and not an expression or a reference.
  bool isConstant(Slot S) const;

  void clear() { Present = 0; }
  Value &set(Slot S) {
    Present |= uint64_t(1) << S;
    return Values[S];
  }

private:
  static_assert(SlotCount <= 64);
  uint64_t Present = 0;
  std::array<Value, SlotCount> Values;
};

struct Entry {
  uint64_t Offset = 0; // in its section
  uint64_t Next = 0;   // first byte behind the attributes
  const Abbreviation *Abbrev = nullptr;
  Attributes A;
  uint16_t tag() const { return Abbrev->Tag; }
};

class UnitView;

/// An entry by place.
struct EntryRef {
  UnitView *View = nullptr;
  uint64_t Offset = 0;
  explicit operator bool() const { return View; }
};

/// Enclosing scope of an entry that is nested in a namespace or a record.
struct ScopeLink {
  uint64_t Offset;
  uint64_t Parent;
};

class UnitView {
public:
  UnitView(const Unit &U, std::shared_ptr<const AbbreviationTable> Table);

  const Unit &U;
  /// C and assembler: names are not qualified, types hold no variables.
  bool IsC = false;
  Entry Root;
  std::vector<ScopeLink> Scopes; // by offset, filled by the walk
  bool HasScopes = false;

  /// Whether the unit entry could be read.
  bool valid() const { return Root.Abbrev; }
  const AbbreviationTable &table() const { return *Table; }

  /// Reads the entry at \p Offset.  False for a null, unknown or cut entry.
  bool read(uint64_t Offset, Entry &E) const;
  /// Reads the attributes of an entry whose code was just read from \p C.
  bool readAttributes(Cursor &C, Entry &E) const;

  llvm::StringRef string(const Value &V) const;
  llvm::StringRef string(const Attributes &A, Slot S) const {
    return A.has(S) ? string(A[S]) : llvm::StringRef();
  }
  /// The indexed address; \p Section gets the section it points into or -1.
  bool indexedAddress(uint64_t Index, uint64_t &Address,
                      int32_t &Section) const;
  Cursor cursor(uint64_t Offset) const {
    return {U.data(), Offset, U.End, U.List->File.swap()};
  }
  const ScopeLink *scopeOf(uint64_t Offset) const;
  const LineFiles &files();

private:
  bool readValue(Cursor &C, const AttributeSpec &Spec, Value &V) const;
  llvm::StringRef indexedString(uint64_t Index) const;
  void setBases();

  std::shared_ptr<const AbbreviationTable> Table;
  uint64_t StrOffsets = 0;
  bool HasStrOffsets = false;
  uint64_t AddrBaseOffset = 0;
  const Unit *AddrUnit = nullptr; // whose file has .debug_addr
  std::unique_ptr<LineFiles> Files;

  friend class Worker;
};

} // namespace linemate::dwarf

#endif
