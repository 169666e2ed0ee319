//===- Unit.h - Unit headers and the units of one file ----------*- C++ -*-===//
//
// Part of linemate, under the Apache License v2.0.
// SPDX-License-Identifier: Apache-2.0
//
// Owns unit headers (DWARF 2 to 5, split, type and package units) and the list
// of a file's units, found by offset or type signature.  Fixed once built, so
// all threads read it.  Does not read entries.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_DWARF_UNIT_H
#define LINEMATE_DWARF_UNIT_H

#include "Abbrev.h"
#include "Object.h"
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

namespace linemate::dwarf {

class UnitList;

struct Unit {
  UnitList *List = nullptr;
  bool InTypes = false; // in .debug_types, not in .debug_info
  bool IsType = false;
  FormSizes Sizes{};
  uint8_t UnitType = 0;
  uint64_t Offset = 0;     // of the header in its section
  uint64_t FirstEntry = 0; // of the unit entry
  uint64_t End = 0;        // one past the last entry
  uint64_t AbbrevOffset = 0;
  uint64_t Signature = 0; // of a type unit
  uint64_t TypeEntry = 0; // section offset of the type's entry
  std::optional<uint64_t> DwoId;
  uint64_t StrOffsetsBase = 0; // this unit's part of a package file
  uint64_t LineBase = 0;
  // Set when a split unit is joined with the skeleton that names it.
  const Unit *Skeleton = nullptr;
  uint64_t SkeletonAddrBase = 0;
  uint32_t Index = 0; // order in the whole run, for ties

  const DebugSection &section() const;
  llvm::StringRef data() const { return section().Data; }
};

using Report = std::function<void(uint64_t Offset, llvm::Twine Reason)>;

/// All units of one file.
class UnitList {
public:
  explicit UnitList(const Object &File) : File(File) {}
  UnitList(const UnitList &) = delete;

  /// Finds every header.  Stops at the first that is damaged, since the next
  /// one cannot be found without it.
  void build(const Report &Problem);

  const Unit *find(uint64_t Offset) const; // in .debug_info
  const Unit *findSignature(uint64_t Signature) const;

  const Object &File;
  std::vector<Unit> Units;
  uint64_t Lost =
      0; // units that are not in Units, as far as they can be counted
  const UnitList *Alternate = nullptr; // dwz: the common file

private:
  void buildSection(const DebugSection &Section, bool InTypes,
                    const Report &Problem);
  void applyPackageIndex(const Report &Problem);

  size_t InfoCount = 0;
  std::unordered_map<uint64_t, uint32_t> BySignature; // any is a key
};

inline const DebugSection &Unit::section() const {
  return InTypes ? List->File.Types : List->File.Info;
}

} // namespace linemate::dwarf

#endif
