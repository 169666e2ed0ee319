//===- Walk.cpp - One pass over a unit ------------------------------------===//
//
// Part of linemate, under the Apache License v2.0.
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

#include "Walk.h"
#include "llvm/ADT/Twine.h"

using namespace llvm;
using namespace llvm::dwarf;

namespace linemate::dwarf {

constexpr size_t MaxDepth = 1024;

/// Where the sibling attribute leads, 0: nowhere that is ahead in the unit.
static uint64_t siblingOf(const UnitView &View, const Abbreviation &A,
                          const Cursor &C) {
  if (A.SiblingOffset < 0)
    return 0;
  Cursor S = C;
  S.skip(A.SiblingOffset);
  uint64_t Target = View.U.Offset + S.u32();
  return !S.failed() && Target > S.offset() && Target <= View.U.End ? Target
                                                                    : 0;
}

void skipChildren(const UnitView &View, const Abbreviation &A, Cursor &C) {
  if (!A.HasChildren)
    return;
  for (size_t Depth = 1; Depth && !C.atEnd();) {
    uint64_t Code = C.uleb();
    if (Code == 0) {
      --Depth;
      continue;
    }
    const Abbreviation *Child = View.table().find(Code);
    if (!Child) {
      C.skip(UINT64_MAX);
      return;
    }
    if (uint64_t Sibling = siblingOf(View, *Child, C)) {
      C.seek(Sibling);
      continue;
    }
    View.table().skip(*Child, C);
    Depth += Child->HasChildren;
  }
}

namespace {
struct Level {
  uint64_t Offset;
  uint64_t Function; // innermost function so far
  bool IsScope;
};
} // namespace

void walkUnit(UnitView &View, unsigned Flags, Findings &Found,
              const Report &Problem) {
  const Unit &U = View.U;
  const AbbreviationTable &Table = View.table();
  const bool WantScopes = !View.IsC && !View.HasScopes;
  SmallVector<Level, 32> Levels;
  Level Here{0, 0, false};
  Entry E;
  Cursor C = View.cursor(U.FirstEntry);
  uint64_t Count = 0;
  while (!C.atEnd()) {
    uint64_t Offset = C.offset();
    uint64_t Code = C.uleb();
    if (Code == 0) {
      if (Levels.empty())
        break; // padding behind the unit entry
      Here = Levels.pop_back_val();
      continue;
    }
    ++Count;
    const Abbreviation *A = Table.find(Code);
    if (!A) {
      Problem(Offset, "abbreviation code " + Twine(Code) +
                          " is unknown; the rest of the unit is not read");
      break;
    }
    EntryKind Kind = A->Kind;
    if (WantScopes && Here.IsScope && Kind != EntryKind::Plain &&
        Kind != EntryKind::Skippable)
      View.Scopes.push_back({Offset, Here.Offset});
    switch (Kind) {
    case EntryKind::Variable:
      if (!(Flags & FindVariables))
        break;
      E.Offset = Offset;
      E.Abbrev = A;
      if (!View.readAttributes(C, E))
        break;
      if (auto Where = staticLocation(View, E.A[Location]))
        Found.Variables.push_back({Offset, Here.Function, *Where});
      C.seek(E.Next);
      goto Passed;
    case EntryKind::Record:
      if (Flags & FindRecords) {
        Cursor Ahead = C;
        E.Abbrev = A;
        if (View.readAttributes(Ahead, E) && !E.A.number(Declaration) &&
            E.A.has(ByteSize) && (E.A.has(Name) || E.A.has(Specification)))
          Found.Records.push_back(Offset);
      }
      if (!View.IsC) // static members and nested types are inside
        break;
      [[fallthrough]];
    case EntryKind::NamedType:
      if ((Flags & FindTypedefs) && A->Tag == DW_TAG_typedef)
        Found.Typedefs.push_back(Offset);
      [[fallthrough]];
    case EntryKind::Skippable:
      if (uint64_t Sibling = siblingOf(View, *A, C)) {
        C.seek(Sibling);
        continue;
      }
      break;
    case EntryKind::Function:
      if ((Flags & FindFunctions) && A->Tag == DW_TAG_subprogram &&
          A->HasChildren)
        Found.Functions.push_back(Offset);
      break;
    default:
      break;
    }
    Table.skip(*A, C);
  Passed:
    if (!A->HasChildren)
      continue;
    if (Levels.size() == MaxDepth) {
      Problem(Offset, "entries are nested too deeply; the rest of the unit "
                      "is not read");
      break;
    }
    Levels.push_back(Here);
    bool IsScope = Kind == EntryKind::Scope || Kind == EntryKind::Record;
    uint64_t Function = Kind == EntryKind::Function ? Offset : Here.Function;
    Here = {Offset, Function, IsScope};
  }
  if (C.failed())
    Problem(C.offset(), "an entry runs past the end of its unit");
  View.HasScopes = true;
  Found.EntryCount += Count;
}

} // namespace linemate::dwarf
