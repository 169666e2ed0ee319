//===- Unit.cpp - Unit headers and the units of one file ------------------===//
//
// Part of linemate, under the Apache License v2.0.
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

#include "Unit.h"
#include "llvm/ADT/Twine.h"
#include "llvm/DebugInfo/DWARF/DWARFUnitIndex.h"
#include "llvm/Support/DataExtractor.h"

using namespace llvm;
using namespace llvm::dwarf;

namespace linemate::dwarf {

void UnitList::build(const Report &Problem) {
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
      return;
    }
    C.seek(U.End);
    if (U.Sizes.Version < 2 || U.Sizes.Version > 5) {
      if (U.End - U.Offset > 4) // not mere zero padding of the section
        Problem(U.Offset, "DWARF version " + Twine(U.Sizes.Version) +
                              " is not supported");
      continue;
    }
    if (!is_contained({2, 4, 8}, U.Sizes.AddressSize)) {
      Problem(U.Offset, "address size " + Twine(U.Sizes.AddressSize) +
                            " is not supported");
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
    DWARFUnitIndex Index(ForTypes && !File.Types.Data.empty()
                             ? DW_SECT_EXT_TYPES
                             : DW_SECT_INFO);
    if (!Index.parse(DataExtractor(Section.Data, File.littleEndian(), 0))) {
      Problem(0, "package index is damaged");
      continue;
    }
    for (Unit &U : Units) {
      if (U.IsType != ForTypes)
        continue;
      const DWARFUnitIndex::Entry *Entry = Index.getFromOffset(U.Offset);
      if (!Entry)
        continue;
      if (auto *Part = Entry->getContribution(DW_SECT_ABBREV))
        U.AbbrevOffset += Part->getOffset();
      if (auto *Part = Entry->getContribution(DW_SECT_STR_OFFSETS))
        U.StrOffsetsBase = Part->getOffset();
      if (auto *Part = Entry->getContribution(DW_SECT_LINE))
        U.LineBase = Part->getOffset();
      if (!U.IsType && !U.DwoId)
        U.DwoId = Entry->getSignature();
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
