//===- PackageIndex.cpp - Which parts of a package are a unit's -----------===//
//
// Part of linemate, under the Apache License v2.0.
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

#include "PackageIndex.h"
#include "Bytes.h"
#include "llvm/ADT/STLExtras.h"

using namespace llvm;

namespace linemate::dwarf {

// The columns that are looked at have one number in both forms, but for
// .debug_types, which DWARF 5 does not have.
enum Column : uint32_t {
  Info = 1,
  Types = 2,
  Abbrev = 3,
  Line = 4,
  Offsets = 6
};
constexpr uint64_t SlotBytes = 12; // a signature and a row number
constexpr uint64_t MaxColumns = 16;

bool PackageIndex::parse(StringRef Data, bool Swap, bool InTypes) {
  Rows.clear();
  Cursor C(Data, Swap);
  uint32_t Version = C.u32(); // DWARF 5: two bytes and two of padding
  if (Version != 2) {
    C.seek(0);
    Version = C.u16();
    C.skip(2);
    if (Version != 5)
      return false;
  }
  uint64_t Columns = C.u32(), Units = C.u32(), Buckets = C.u32();
  if (C.failed() || Columns > MaxColumns || Buckets > C.left() / SlotBytes)
    return false;
  // All three tables are there: no count exceeds the bytes of the section.
  uint64_t Left = C.left() - Buckets * SlotBytes;
  if (Left / 4 < Columns || (Left / 4 - Columns) / 2 < Units * Columns)
    return false;
  uint64_t Tables = C.offset() + Buckets * SlotBytes;
  Cursor Signatures = C, Numbers = C, Heads(Data, Tables, Data.size(), Swap);
  Numbers.skip(Buckets * 8);
  std::vector<uint32_t> Kinds;
  for (uint64_t I = 0; I < Columns; ++I)
    Kinds.push_back(Heads.u32());
  uint32_t Main = InTypes ? Types : Info;
  if (!is_contained(Kinds, Main))
    return Units == 0;
  for (uint64_t I = 0; I < Buckets; ++I) {
    PackageRow Row;
    Row.Signature = Signatures.u64();
    uint64_t Number = Numbers.u32();
    if (Number == 0)
      continue; // an empty bucket
    if (Number > Units)
      return false;
    uint64_t At = Heads.offset() + (Number - 1) * Columns * 4;
    Cursor Begins(Data, At, Data.size(), Swap);
    Cursor Sizes(Data, At + Units * Columns * 4, Data.size(), Swap);
    for (uint32_t Kind : Kinds) {
      uint64_t Begin = Begins.u32(), Size = Sizes.u32();
      if (Kind == Main) {
        Row.Begin = Begin;
        Row.End = Begin + Size;
      } else if (Kind == Abbrev) {
        Row.Abbrev = Begin;
      } else if (Kind == Line) {
        Row.Line = Begin;
      } else if (Kind == Offsets) {
        Row.StrOffsets = Begin;
      }
    }
    Rows.push_back(Row);
  }
  llvm::stable_sort(Rows, [](const PackageRow &A, const PackageRow &B) {
    return A.Begin < B.Begin;
  });
  return true;
}

const PackageRow *PackageIndex::find(uint64_t Offset) const {
  auto It = llvm::partition_point(
      Rows, [&](const PackageRow &R) { return R.Begin <= Offset; });
  if (It == Rows.begin())
    return nullptr;
  --It;
  return Offset < It->End ? &*It : nullptr;
}

} // namespace linemate::dwarf
