//===- Abbrev.cpp - How to read and to skip a debugging entry -------------===//
//
// Part of linemate, under the Apache License v2.0.
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

#include "Abbrev.h"
#include "llvm/Support/MathExtras.h"

using namespace llvm;
using namespace llvm::dwarf;

namespace linemate::dwarf {

constexpr uint64_t MaxCodeGap = 64; // codes are consecutive in practice
// Of one table; it takes up to 20 times its bytes.  That of a whole program
// that was linked with one table has some 100 KiB.
constexpr uint64_t MaxTableBytes = uint64_t(1) << 20;

static Slot slotOf(uint64_t Attribute) {
  switch (Attribute) {
  case DW_AT_name:
    return Name;
  case DW_AT_linkage_name:
  case DW_AT_MIPS_linkage_name:
    return LinkageName;
  case DW_AT_type:
    return Type;
  case DW_AT_specification:
    return Specification;
  case DW_AT_abstract_origin:
    return Origin;
  case DW_AT_byte_size:
    return ByteSize;
  case DW_AT_bit_size:
    return BitSize;
  case DW_AT_location:
    return Location;
  case DW_AT_data_member_location:
    return MemberLocation;
  case DW_AT_data_bit_offset:
    return DataBitOffset;
  case DW_AT_bit_offset:
    return BitOffset;
  case DW_AT_decl_file:
    return DeclFile;
  case DW_AT_decl_line:
    return DeclLine;
  case DW_AT_count:
    return Count;
  case DW_AT_upper_bound:
    return UpperBound;
  case DW_AT_lower_bound:
    return LowerBound;
  case DW_AT_byte_stride:
    return ByteStride;
  case DW_AT_bit_stride:
    return BitStride;
  case DW_AT_signature:
    return Signature;
  case DW_AT_alignment:
    return Alignment;
  case DW_AT_external:
    return External;
  case DW_AT_declaration:
    return Declaration;
  case DW_AT_prototyped:
    return Prototyped;
  case DW_AT_const_value:
    return ConstValue;
  case DW_AT_low_pc:
    return LowPc;
  case DW_AT_ranges:
    return Ranges;
  case DW_AT_language:
    return Language;
  case DW_AT_producer:
    return Producer;
  case DW_AT_comp_dir:
    return CompDir;
  case DW_AT_stmt_list:
    return StmtList;
  case DW_AT_str_offsets_base:
    return StrOffsetsBase;
  case DW_AT_addr_base:
  case DW_AT_GNU_addr_base:
    return AddrBase;
  case DW_AT_dwo_name:
  case DW_AT_GNU_dwo_name:
    return DwoName;
  case DW_AT_GNU_dwo_id:
    return DwoId;
  default:
    return Ignored;
  }
}

int fixedFormSize(uint16_t Form, FormSizes Sizes) {
  switch (Form) {
  case DW_FORM_flag_present:
  case DW_FORM_implicit_const:
    return 0;
  case DW_FORM_data1:
  case DW_FORM_ref1:
  case DW_FORM_flag:
  case DW_FORM_strx1:
  case DW_FORM_addrx1:
    return 1;
  case DW_FORM_data2:
  case DW_FORM_ref2:
  case DW_FORM_strx2:
  case DW_FORM_addrx2:
    return 2;
  case DW_FORM_strx3:
  case DW_FORM_addrx3:
    return 3;
  case DW_FORM_data4:
  case DW_FORM_ref4:
  case DW_FORM_ref_sup4:
  case DW_FORM_strx4:
  case DW_FORM_addrx4:
    return 4;
  case DW_FORM_data8:
  case DW_FORM_ref8:
  case DW_FORM_ref_sig8:
  case DW_FORM_ref_sup8:
    return 8;
  case DW_FORM_data16:
    return 16;
  case DW_FORM_addr:
    return Sizes.AddressSize;
  case DW_FORM_ref_addr: // an address in DWARF 2
    if (Sizes.Version <= 2)
      return Sizes.AddressSize;
    [[fallthrough]];
  case DW_FORM_strp:
  case DW_FORM_sec_offset:
  case DW_FORM_line_strp:
  case DW_FORM_strp_sup:
  case DW_FORM_GNU_ref_alt:
  case DW_FORM_GNU_strp_alt:
    return Sizes.Is64 ? 8 : 4;
  default:
    return -1;
  }
}

static SkipStep::Move moveOf(uint16_t Form) {
  switch (Form) {
  case DW_FORM_sdata:
  case DW_FORM_udata:
  case DW_FORM_ref_udata:
  case DW_FORM_strx:
  case DW_FORM_addrx:
  case DW_FORM_loclistx:
  case DW_FORM_rnglistx:
  case DW_FORM_GNU_addr_index:
  case DW_FORM_GNU_str_index:
    return SkipStep::Leb;
  case DW_FORM_block1:
    return SkipStep::Block1;
  case DW_FORM_block2:
    return SkipStep::Block2;
  case DW_FORM_block4:
    return SkipStep::Block4;
  case DW_FORM_block:
  case DW_FORM_exprloc:
    return SkipStep::BlockLeb;
  case DW_FORM_string:
    return SkipStep::CString;
  default:
    return SkipStep::None;
  }
}

static void makeMove(SkipStep::Move Move, Cursor &C) {
  switch (Move) {
  case SkipStep::None:
    return;
  case SkipStep::Leb:
    C.uleb();
    return;
  case SkipStep::Block1:
    C.skip(C.u8());
    return;
  case SkipStep::Block2:
    C.skip(C.u16());
    return;
  case SkipStep::Block4:
    C.skip(C.u32());
    return;
  case SkipStep::BlockLeb:
    C.skip(C.uleb());
    return;
  case SkipStep::CString:
    C.string();
    return;
  }
}

bool skipForm(uint16_t Form, FormSizes Sizes, Cursor &C) {
  for (unsigned I = 0; Form == DW_FORM_indirect; ++I) {
    Form = static_cast<uint16_t>(C.uleb());
    if (I == MaxIndirections || Form == DW_FORM_implicit_const)
      return false;
  }
  if (int Size = fixedFormSize(Form, Sizes); Size >= 0) {
    C.skip(Size);
    return true;
  }
  SkipStep::Move Move = moveOf(Form);
  makeMove(Move, C);
  return Move != SkipStep::None;
}

static EntryKind entryKindOf(uint16_t Tag, bool HasLocation, bool HasSibling) {
  switch (Tag) {
  case DW_TAG_variable:
    return HasLocation ? EntryKind::Variable : EntryKind::Declared;
  case DW_TAG_namespace:
  case DW_TAG_module:
    return EntryKind::Scope;
  case DW_TAG_structure_type:
  case DW_TAG_class_type:
  case DW_TAG_union_type:
  case DW_TAG_interface_type:
    return EntryKind::Record;
  case DW_TAG_subprogram:
  case DW_TAG_inlined_subroutine:
    return EntryKind::Function;
  case DW_TAG_typedef:
  case DW_TAG_base_type:
  case DW_TAG_enumeration_type:
    return EntryKind::NamedType;
  case DW_TAG_array_type:
  case DW_TAG_subroutine_type:
    return HasSibling ? EntryKind::Skippable : EntryKind::Plain;
  default:
    return EntryKind::Plain;
  }
}

AbbreviationTable::AbbreviationTable(StringRef Section, uint64_t Offset,
                                     bool Swap, FormSizes Sizes)
    : Sizes(Sizes) {
  uint64_t End =
      std::min<uint64_t>(Section.size(), SaturatingAdd(Offset, MaxTableBytes));
  Cursor C(Section, Offset, End, Swap);
  while (!C.failed()) {
    uint64_t Code = C.uleb();
    if (Code == 0)
      return;
    Abbreviation A;
    A.Tag = static_cast<uint16_t>(C.uleb());
    A.HasChildren = C.u8() != 0;
    A.FirstSpec = static_cast<uint32_t>(Specs.size());
    bool HasLocation = false, HasSibling = false, HasExternal = false,
         HasDeclaration = false;
    uint32_t Bytes = 0;
    bool Fixed = true;
    while (true) {
      uint64_t Attribute = C.uleb();
      uint64_t Form = C.uleb();
      int64_t Const = Form == DW_FORM_implicit_const ? C.sleb() : 0;
      if (C.failed())
        return;
      if (Attribute == 0 && Form == 0)
        break;
      if (Attribute == DW_AT_sibling && Form == DW_FORM_ref4 && Fixed) {
        A.SiblingOffset = static_cast<int32_t>(Bytes);
        HasSibling = true;
      }
      Specs.push_back({static_cast<uint16_t>(Form), slotOf(Attribute), Const});
      HasLocation |= Attribute == DW_AT_location &&
                     moveOf(static_cast<uint16_t>(Form)) >= SkipStep::Block1;
      HasExternal |= Attribute == DW_AT_external;
      HasDeclaration |= Attribute == DW_AT_declaration;
      int Size = fixedFormSize(static_cast<uint16_t>(Form), Sizes);
      Fixed &= Size >= 0;
      Bytes += std::max(Size, 0);
    }
    A.SpecCount = static_cast<uint32_t>(Specs.size()) - A.FirstSpec;
    A.Kind = entryKindOf(A.Tag, HasLocation, HasSibling);
    // Static members are DW_TAG_member up to DWARF 4.
    if (A.Tag == DW_TAG_member && (HasExternal || HasDeclaration))
      A.Kind = EntryKind::Declared;
    plan(A);
    if (A.Tag)
      add(Code, A);
  }
}

void AbbreviationTable::add(uint64_t Code, Abbreviation A) {
  if (Code > Dense.size() + MaxCodeGap) {
    // The two largest keys are the map's own marks.
    if (Code < UINT64_MAX - 1)
      Sparse.try_emplace(Code, A);
    return;
  }
  if (Dense.size() < Code)
    Dense.resize(Code);
  if (Dense[Code - 1].Tag == 0)
    Dense[Code - 1] = A;
}

/// Merges neighbours of fixed size, so that most entries are passed in one
/// move and the rest in one per variable-sized attribute.
void AbbreviationTable::plan(Abbreviation &A) {
  A.FirstStep = static_cast<uint32_t>(Steps.size());
  for (const AttributeSpec &Spec : specs(A)) {
    if (Spec.Form == DW_FORM_indirect) {
      A.HasIndirect = true;
      break;
    }
    if (int Size = fixedFormSize(Spec.Form, Sizes); Size >= 0) {
      uint32_t &Bytes =
          Steps.size() == A.FirstStep ? A.FixedBytes : Steps.back().FixedBytes;
      Bytes += Size;
      continue;
    }
    SkipStep::Move Move = moveOf(Spec.Form);
    if (Move == SkipStep::None) { // unknown form: the entry cannot be passed
      A.Tag = 0;
      break;
    }
    Steps.push_back({Move, 0});
  }
  if (A.HasIndirect) {
    Steps.resize(A.FirstStep);
    A.FixedBytes = 0;
    A.SiblingOffset = -1;
  }
  A.StepCount = static_cast<uint32_t>(Steps.size()) - A.FirstStep;
}

void AbbreviationTable::skipSteps(const Abbreviation &A, Cursor &C) const {
  if (A.HasIndirect) {
    for (const AttributeSpec &Spec : specs(A))
      if (!skipForm(Spec.Form, Sizes, C))
        C.skip(UINT64_MAX);
    return;
  }
  for (const SkipStep &Step : ArrayRef(Steps).slice(A.FirstStep, A.StepCount)) {
    makeMove(Step.First, C);
    C.skip(Step.FixedBytes);
  }
}

} // namespace linemate::dwarf
