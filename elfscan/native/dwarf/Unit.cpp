//===- Unit.cpp - Unit headers and the units of one file ------------------===//
//
// Part of linemate, under the Apache License v2.0.
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

#include "Unit.h"
#include "PackageIndex.h"
#include "llvm/ADT/Twine.h"

using namespace llvm;
using namespace llvm::dwarf;

namespace linemate::dwarf {

void UnitList::build(const Report &Problem) {
  for (const std::string &Reason : File.problems())
    Problem(0, Reason);
  buildSection(File.Info, false, Problem);
  InfoCount = Units.size();
  buildSection(File.Types, true, Problem);
  applyPackageIndex(Problem);
  for (uint32_t I = 0; I < Units.size(); ++I) {
    Units[I].List = this;
    // The two largest values are the map's own marks.
    if (Units[I].IsType && Units[I].Signature < UINT64_MAX - 1)
      BySignature.try_emplace(Units[I].Signature, I);
  }
}

static bool readHeader(Cursor &C, Unit &U) {
  uint64_t Length = C.u32();
  U.Sizes.Is64 = Length == DW_LENGTH_DWARF64;
  if (U.Sizes.Is64)
    Length = C.u64();
  else if (Length >= DW_LENGTH_lo_reserved)
    return false;
  if (C.failed() || Length > C.left())
    return false;
  U.End = C.offset() + Length;
  U.Sizes.Version = C.u16();
  if (U.Sizes.Version < 2 || U.Sizes.Version > 5)
    return true; // unknown version: the caller passes over the unit
  if (U.Sizes.Version >= 5) {
    U.UnitType = C.u8();
    U.Sizes.AddressSize = C.u8();
    U.AbbrevOffset = C.offsetOf(U.Sizes.Is64);
  } else {
    U.AbbrevOffset = C.offsetOf(U.Sizes.Is64);
    U.Sizes.AddressSize = C.u8();
    U.UnitType = U.InTypes ? DW_UT_type : DW_UT_compile;
  }
  U.IsType = U.UnitType == DW_UT_type || U.UnitType == DW_UT_split_type;
  if (U.IsType) {
    U.Signature = C.u64();
    U.TypeEntry = SaturatingAdd(U.Offset, C.offsetOf(U.Sizes.Is64));
  } else if (U.UnitType == DW_UT_skeleton ||
             U.UnitType == DW_UT_split_compile) {
    U.DwoId = C.u64();
  }
  U.FirstEntry = C.offset();
  return !C.failed() && U.FirstEntry <= U.End;
}

void UnitList::buildSection(const DebugSection &Section, bool InTypes,
                            const Report &Problem) {
  Cursor C(Section.Data, File.swap());
  while (!C.atEnd()) {
    Unit U;
    U.InTypes = InTypes;
    U.Offset = C.offset();
    if (!readHeader(C, U)) {
      Problem(U.Offset, "unit header is damaged; the rest is not read");
      ++Lost;
      return;
    }
    C.seek(U.End);
    if (const Damage *D = Section.damageIn(U.Offset, U.End)) {
      Problem(U.Offset, "unit is damaged: " + Twine(D->Reason));
      ++Lost;
      continue;
    }
    if (U.Sizes.Version < 2 || U.Sizes.Version > 5) {
      if (U.End - U.Offset > 4) { // not mere zero padding of the section
        Problem(U.Offset, "DWARF version " + Twine(U.Sizes.Version) +
                              " is not supported");
        ++Lost;
      }
      continue;
    }
    if (!is_contained({2, 4, 8}, U.Sizes.AddressSize)) {
      Problem(U.Offset, "address size " + Twine(U.Sizes.AddressSize) +
                            " is not supported");
      ++Lost;
      continue;
    }
    Units.push_back(U);
  }
}

/// In a package file each unit has its own part of the shared sections.
void UnitList::applyPackageIndex(const Report &Problem) {
  for (bool ForTypes : {false, true}) {
    const DebugSection &Section = ForTypes ? File.TuIndex : File.CuIndex;
    if (Section.Data.empty())
      continue;
    PackageIndex Index;
    if (!Index.parse(Section.Data, File.swap(),
                     ForTypes && !File.Types.Data.empty())) {
      Problem(0, "package index is damaged");
      continue;
    }
    for (Unit &U : Units) {
      if (U.IsType != ForTypes)
        continue;
      const PackageRow *Row = Index.find(U.Offset);
      if (!Row)
        continue;
      U.AbbrevOffset += Row->Abbrev;
      U.StrOffsetsBase = Row->StrOffsets;
      U.LineBase = Row->Line;
      if (!U.IsType && !U.DwoId)
        U.DwoId = Row->Signature;
    }
  }
}

const Unit *UnitList::find(uint64_t Offset) const {
  auto Begin = Units.begin(),
       End = Units.begin() + static_cast<ptrdiff_t>(InfoCount);
  auto It = std::upper_bound(Begin, End, Offset, [](uint64_t O, const Unit &U) {
    return O < U.Offset;
  });
  if (It == Begin)
    return nullptr;
  const Unit &U = *std::prev(It);
  return Offset >= U.FirstEntry && Offset < U.End ? &U : nullptr;
}

const Unit *UnitList::findSignature(uint64_t Signature) const {
  auto It = BySignature.find(Signature);
  return It == BySignature.end() ? nullptr : &Units[It->second];
}

} // namespace linemate::dwarf
