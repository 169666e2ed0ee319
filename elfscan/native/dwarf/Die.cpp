//===- Die.cpp - One unit's entries and their attributes ------------------===//
//
// Part of linemate, under the Apache License v2.0.
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

#include "Die.h"

using namespace llvm;
using namespace llvm::dwarf;

namespace linemate::dwarf {

bool Attributes::isConstant(Slot S) const {
  if (!has(S))
    return false;
  switch (Values[S].Form) {
  case DW_FORM_data1:
  case DW_FORM_data2:
  case DW_FORM_data4:
  case DW_FORM_data8:
  case DW_FORM_udata:
  case DW_FORM_sdata:
  case DW_FORM_implicit_const:
  case DW_FORM_flag:
  case DW_FORM_flag_present:
  case DW_FORM_sec_offset:
    return true;
  default:
    return false;
  }
}

uint64_t Attributes::number(Slot S, uint64_t Default) const {
  return isConstant(S) ? Values[S].Number : Default;
}

static bool languageIsC(uint64_t Language) {
  switch (Language) {
  case DW_LANG_C89:
  case DW_LANG_C:
  case DW_LANG_C99:
  case DW_LANG_C11:
  case DW_LANG_C17:
  case DW_LANG_Mips_Assembler:
    return true;
  default:
    return false;
  }
}

UnitView::UnitView(const Unit &U, std::shared_ptr<const AbbreviationTable> T)
    : U(U), Table(std::move(T)) {
  if (!read(U.FirstEntry, Root)) {
    Root.Abbrev = nullptr;
    return;
  }
  IsC = languageIsC(Root.A.number(Language));
  setBases();
}

void UnitView::setBases() {
  StrOffsets = U.StrOffsetsBase;
  HasStrOffsets = U.Sizes.Version >= 5 || U.List->File.IsDwo;
  if (Root.A.has(StrOffsetsBase))
    StrOffsets += Root.A[StrOffsetsBase].Number;
  else if (U.Sizes.Version >= 5 && U.List->File.IsDwo)
    StrOffsets += U.Sizes.Is64 ? 16 : 8; // behind the table's header
  AddrUnit = U.Skeleton ? U.Skeleton : &U;
  if (Root.A.has(AddrBase))
    AddrBaseOffset = Root.A[AddrBase].Number;
}

bool UnitView::read(uint64_t Offset, Entry &E) const {
  if (Offset < U.FirstEntry || Offset >= U.End)
    return false;
  Cursor C = cursor(Offset);
  E.Offset = Offset;
  E.Abbrev = Table->find(C.uleb());
  return E.Abbrev && readAttributes(C, E);
}

bool UnitView::readAttributes(Cursor &C, Entry &E) const {
  E.A.clear();
  Value Unused;
  for (const AttributeSpec &Spec : Table->specs(*E.Abbrev)) {
    if (Spec.Where == Ignored) {
      if (!skipForm(Spec.Form, U.Sizes, C))
        return false;
      continue;
    }
    Value &V = E.A.has(Spec.Where) ? Unused : E.A.set(Spec.Where);
    if (!readValue(C, Spec, V))
      return false;
  }
  E.Next = C.offset();
  return !C.failed();
}

bool UnitView::readValue(Cursor &C, const AttributeSpec &Spec, Value &V) const {
  V.Form = Spec.Form;
  for (unsigned I = 0; V.Form == DW_FORM_indirect; ++I) {
    V.Form = static_cast<uint16_t>(C.uleb());
    if (I == MaxIndirections || V.Form == DW_FORM_implicit_const)
      return false;
  }
  V.Position = C.offset();
  switch (V.Form) {
  case DW_FORM_implicit_const:
    V.Number = static_cast<uint64_t>(Spec.ImplicitConst);
    return true;
  case DW_FORM_flag_present:
    V.Number = 1;
    return true;
  case DW_FORM_sdata:
    V.Number = static_cast<uint64_t>(C.sleb());
    return true;
  case DW_FORM_udata:
  case DW_FORM_ref_udata:
  case DW_FORM_strx:
  case DW_FORM_addrx:
  case DW_FORM_loclistx:
  case DW_FORM_rnglistx:
  case DW_FORM_GNU_addr_index:
  case DW_FORM_GNU_str_index:
    V.Number = C.uleb();
    return true;
  case DW_FORM_string:
    V.Bytes = C.string();
    return true;
  case DW_FORM_data16:
    V.Bytes = C.bytes(16);
    return true;
  case DW_FORM_block1:
  case DW_FORM_block2:
  case DW_FORM_block4:
  case DW_FORM_block:
  case DW_FORM_exprloc: {
    uint64_t Size = V.Form == DW_FORM_block1   ? C.u8()
                    : V.Form == DW_FORM_block2 ? C.u16()
                    : V.Form == DW_FORM_block4 ? C.u32()
                                               : C.uleb();
    V.Position = C.offset();
    V.Bytes = C.bytes(Size);
    return true;
  }
  default:
    break;
  }
  int Size = fixedFormSize(V.Form, U.Sizes);
  if (Size < 0)
    return false;
  V.Number = C.uintOfSize(Size);
  return true;
}

StringRef UnitView::indexedString(uint64_t Index) const {
  const Object &File = U.List->File;
  uint64_t Where =
      SaturatingMultiplyAdd<uint64_t>(Index, U.Sizes.Is64 ? 8 : 4, StrOffsets);
  Cursor C(File.StrOffsets.Data, Where, File.StrOffsets.Data.size(),
           File.swap());
  uint64_t Offset = C.offsetOf(U.Sizes.Is64);
  return C.failed() ? StringRef() : stringAt(File.Str.Data, Offset);
}

StringRef UnitView::string(const Value &V) const {
  const Object &File = U.List->File;
  switch (V.Form) {
  case DW_FORM_string:
    return V.Bytes;
  case DW_FORM_strp:
    return stringAt(File.Str.Data, V.Number);
  case DW_FORM_line_strp:
    return stringAt(File.LineStr.Data, V.Number);
  case DW_FORM_strx:
  case DW_FORM_strx1:
  case DW_FORM_strx2:
  case DW_FORM_strx3:
  case DW_FORM_strx4:
  case DW_FORM_GNU_str_index:
    return indexedString(V.Number);
  case DW_FORM_GNU_strp_alt:
  case DW_FORM_strp_sup:
    if (const UnitList *Alternate = U.List->Alternate)
      return stringAt(Alternate->File.Str.Data, V.Number);
    return {};
  default:
    return {};
  }
}

bool UnitView::indexedAddress(uint64_t Index, uint64_t &Address,
                              int32_t &Section) const {
  const Object &File = AddrUnit->List->File;
  unsigned Size = U.Sizes.AddressSize;
  uint64_t Where = SaturatingMultiplyAdd<uint64_t>(Index, Size, AddrBaseOffset);
  Cursor C(File.Addr.Data, Where, File.Addr.Data.size(), File.swap());
  Address = C.uintOfSize(Size);
  Section = File.Addr.targetOf(Where);
  return !C.failed();
}

const ScopeLink *UnitView::scopeOf(uint64_t Offset) const {
  auto It = std::lower_bound(
      Scopes.begin(), Scopes.end(), Offset,
      [](const ScopeLink &L, uint64_t O) { return L.Offset < O; });
  return It != Scopes.end() && It->Offset == Offset ? &*It : nullptr;
}

const LineFiles &UnitView::files() {
  if (!Files) {
    if (Root.A.has(StmtList))
      Files =
          std::make_unique<LineFiles>(U, Root.A[StmtList].Number, StrOffsets);
    else if (U.List->File.IsDwo) // .debug_line.dwo has one table for the unit
      Files = std::make_unique<LineFiles>(U, 0, StrOffsets);
    else
      Files = std::make_unique<LineFiles>();
  }
  return *Files;
}

} // namespace linemate::dwarf
