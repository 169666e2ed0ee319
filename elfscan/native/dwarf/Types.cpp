//===- Types.cpp - Type entries to type nodes -----------------------------===//
//
// Part of linemate, under the Apache License v2.0.
// SPDX-License-Identifier: Apache-2.0
//
// Follows a type by value: members, bases, elements, underlying types.  A
// pointer ends the descent; its node carries the name of what it points to.
//
//===----------------------------------------------------------------------===//

#include "Worker.h"

#include <algorithm>

using namespace llvm;
using namespace llvm::dwarf;

namespace linemate::dwarf {

constexpr unsigned MaxTypeDepth = 200;
constexpr size_t MaxDimensions = 16; // of an array that are told apart
constexpr int64_t MaxElements = int64_t(1) << 48;
constexpr TypeRow InProgress = -2;

TypeRow Worker::typeRow(EntryRef Ref, unsigned Depth) {
  if (!Ref)
    return -1;
  std::pair<const Unit *, uint64_t> Key(&Ref.View->U, Ref.Offset);
  auto [It, Inserted] = Memo.try_emplace(Key, InProgress);
  if (!Inserted) {
    if (It->second != InProgress)
      return It->second;
    problem(Ref.View->U, Ref.Offset, "a type contains itself");
    return Types.intern({});
  }
  Entry E;
  TypeRow Row = -1;
  if (Depth == MaxTypeDepth) {
    problem(Ref.View->U, Ref.Offset, "types are nested too deeply");
    Row = Types.intern({});
  } else if (Ref.View->read(Ref.Offset, E)) {
    Row = buildType(*Ref.View, E, Depth);
  } else {
    problem(Ref.View->U, Ref.Offset, "a type reference leads nowhere");
  }
  Memo[Key] = Row;
  return Row;
}

TypeRow Worker::targetRow(UnitView &View, const Entry &E, unsigned Depth) {
  if (!E.A.has(Type))
    return -1;
  EntryRef Target = reference(View, E.A[Type]);
  if (!Target)
    problem(View.U, E.Offset, "a type reference leads out of the file");
  return typeRow(Target, Depth + 1);
}

static TypeKind typeKindOf(uint16_t Tag) {
  switch (Tag) {
  case DW_TAG_pointer_type:
    return TypeKind::Pointer;
  case DW_TAG_reference_type:
  case DW_TAG_rvalue_reference_type:
    return TypeKind::Reference;
  case DW_TAG_ptr_to_member_type:
    return TypeKind::MemberPointer;
  case DW_TAG_enumeration_type:
    return TypeKind::Enum;
  case DW_TAG_structure_type:
    return TypeKind::Struct;
  case DW_TAG_class_type:
  case DW_TAG_interface_type:
    return TypeKind::Class;
  case DW_TAG_union_type:
    return TypeKind::Union;
  case DW_TAG_array_type:
    return TypeKind::Array;
  case DW_TAG_typedef:
  case DW_TAG_template_alias:
    return TypeKind::Typedef;
  case DW_TAG_const_type:
    return TypeKind::Const;
  case DW_TAG_volatile_type:
    return TypeKind::Volatile;
  case DW_TAG_restrict_type:
    return TypeKind::Restrict;
  case DW_TAG_atomic_type:
    return TypeKind::Atomic;
  case DW_TAG_subroutine_type:
    return TypeKind::Function;
  case DW_TAG_base_type:
  case DW_TAG_unspecified_type:
  case DW_TAG_string_type:
  case DW_TAG_subrange_type:
  case DW_TAG_set_type:
  case DW_TAG_file_type:
    return TypeKind::Base;
  default:
    return TypeKind::Unknown;
  }
}

TypeRow Worker::buildType(UnitView &View, const Entry &E, unsigned Depth) {
  TypeKind Kind = typeKindOf(E.tag());
  TypeNode N;
  N.Kind = Kind;
  N.Align = static_cast<uint32_t>(E.A.number(Alignment));
  if (E.A.isConstant(ByteSize))
    N.Size = static_cast<int64_t>(E.A.number(ByteSize));
  switch (Kind) {
  case TypeKind::Struct:
  case TypeKind::Class:
  case TypeKind::Union:
    return buildRecord(View, E, Kind, Depth);
  case TypeKind::Array:
    return buildArray(View, E, Depth);
  case TypeKind::Typedef:
  case TypeKind::Const:
  case TypeKind::Volatile:
  case TypeKind::Restrict:
  case TypeKind::Atomic:
    return buildWrapper(View, E, Kind, Depth);
  case TypeKind::Pointer:
  case TypeKind::Reference:
  case TypeKind::MemberPointer: {
    if (Kind == TypeKind::MemberPointer && N.Size < 0) {
      // Itanium ABI 2.3: a function's is a pair, a datum's an offset.
      EntryRef Target = E.A.has(Type) ? reference(View, E.A[Type]) : EntryRef();
      Entry T;
      bool IsFunction = Target && Target.View->read(Target.Offset, T) &&
                        T.tag() == DW_TAG_subroutine_type;
      N.Size = int64_t(View.U.Sizes.AddressSize) * (IsFunction ? 2 : 1);
    } else if (N.Size < 0) {
      N.Size = View.U.Sizes.AddressSize;
    }
    std::string Text;
    appendDeclarator({&View, E.Offset}, E, Text, 0);
    N.Name = Types.save(Text);
    if (!KeepsPointers || Kind == TypeKind::MemberPointer || !E.A.has(Type))
      return Types.intern(N);
    EntryRef Target = reference(View, E.A[Type]);
    N.Pointee = Target.Offset;
    TypeRow Row = Types.intern(N);
    if (Target)
      Pointers.push_back({Row, Target});
    return Row;
  }
  case TypeKind::Enum: {
    StringRef Own = View.string(E.A, Name);
    N.Name = Own.empty() ? Own : qualifiedName({&View, E.Offset}, Own);
    if (N.Size < 0) { // clang leaves the size to the underlying type
      TypeRow Under = targetRow(View, E, Depth);
      N.Size = Under >= 0 ? Types[Under].Size : -1;
    }
    setPlace(View, E.A, N.File, N.Line);
    return Types.intern(N);
  }
  case TypeKind::Base:
    N.Name = View.string(E.A, Name);
    if (E.tag() == DW_TAG_unspecified_type && N.Name.contains("nullptr"))
      N.Size = View.U.Sizes.AddressSize;
    else if (N.Size < 0 && E.A.has(BitSize))
      N.Size = static_cast<int64_t>((E.A.number(BitSize) + 7) / 8);
    if (N.Size < 0 && E.A.has(Type)) {
      TypeRow Under = targetRow(View, E, Depth);
      N.Size = Under >= 0 ? Types[Under].Size : -1;
    }
    return Types.intern(N);
  case TypeKind::Function:
  case TypeKind::Unknown:
    N.Name = View.string(E.A, Name);
    return Types.intern(N);
  }
  return -1;
}

TypeRow Worker::buildWrapper(UnitView &View, const Entry &E, TypeKind Kind,
                             unsigned Depth) {
  TypeNode N;
  N.Kind = Kind;
  N.Align = static_cast<uint32_t>(E.A.number(Alignment));
  N.Target = targetRow(View, E, Depth);
  if (N.Target >= 0)
    N.Size = Types[N.Target].Size;
  StringRef Own = View.string(E.A, Name);
  if (!Own.empty()) {
    N.Name = qualifiedName({&View, E.Offset}, Own);
    setPlace(View, E.A, N.File, N.Line);
  }
  return Types.intern(N);
}

/// Elements of one dimension, -1: unknown (a flexible array).
static int64_t dimension(const UnitView &View, const Attributes &A) {
  if (A.isConstant(Count))
    return static_cast<int64_t>(A.number(Count));
  if (!A.isConstant(UpperBound))
    return -1;
  uint64_t Upper = A.number(UpperBound);
  // Compilers write the bound of a zero-length array as -1.
  if (Upper == UINT64_MAX ||
      (A[UpperBound].Form == DW_FORM_data4 && Upper == UINT32_MAX))
    return 0;
  auto Language =
      static_cast<SourceLanguage>(View.Root.A.number(Slot::Language));
  auto Lower = static_cast<int64_t>(
      A.number(LowerBound, LanguageLowerBound(Language).value_or(0)));
  auto Last = static_cast<int64_t>(Upper);
  if (Last < Lower)
    return 0;
  uint64_t Elements = uint64_t(Last) - uint64_t(Lower) + 1;
  return Elements > uint64_t(MaxElements) ? MaxElements + 1
                                          : static_cast<int64_t>(Elements);
}

TypeRow Worker::buildArray(UnitView &View, const Entry &E, unsigned Depth) {
  TypeNode N;
  N.Kind = TypeKind::Array;
  N.Align = static_cast<uint32_t>(E.A.number(Alignment));
  N.Target = targetRow(View, E, Depth);
  StringRef Own = View.string(E.A, Name);
  if (!Own.empty())
    N.Name = qualifiedName({&View, E.Offset}, Own);
  uint64_t Total = 1;
  bool Known = false, Unknown = false;
  SmallVector<int64_t, 4> Dimensions;
  Cursor C = View.cursor(E.Next);
  Entry D;
  while (E.Abbrev->HasChildren && !C.atEnd() && Budget) {
    --Budget;
    D.Offset = C.offset();
    uint64_t Code = C.uleb();
    D.Abbrev = Code ? View.table().find(Code) : nullptr;
    if (!D.Abbrev || !View.readAttributes(C, D))
      break;
    if (D.tag() == DW_TAG_subrange_type) {
      int64_t Size = dimension(View, D.A);
      Known = true;
      Unknown |= Size < 0;
      if (Dimensions.size() < MaxDimensions)
        Dimensions.push_back(Size);
      Total = SaturatingMultiply<uint64_t>(Total, std::max<int64_t>(Size, 0));
    }
    skipChildren(View, *D.Abbrev, C);
  }
  if (Known && !Unknown) {
    if (Total > static_cast<uint64_t>(MaxElements))
      problem(View.U, E.Offset, "an array has an impossible length");
    else
      N.Count = static_cast<int64_t>(Total);
  }
  if (Dimensions.size() > 1 && Dimensions.size() < MaxDimensions)
    N.Dimensions = Dimensions;
  int64_t Element = N.Target >= 0 ? Types[N.Target].Size : -1;
  int64_t Stride = Element;
  if (E.A.isConstant(ByteStride))
    Stride = static_cast<int64_t>(E.A.number(ByteStride));
  else if (E.A.isConstant(BitStride))
    Stride = static_cast<int64_t>(E.A.number(BitStride) / 8);
  if (Stride > Element && Element >= 0) {
    // An element with its gap: a record of the stride's size around it.
    MemberNode M;
    M.Type = N.Target;
    TypeNode Slot;
    Slot.Kind = TypeKind::Struct;
    Slot.Size = Stride;
    Slot.Members = M;
    N.Target = Types.intern(Slot);
  }
  if (E.A.isConstant(ByteSize)) // vectors; may exceed the elements
    N.Size = static_cast<int64_t>(E.A.number(ByteSize));
  else if (N.Count >= 0 && Stride >= 0)
    N.Size = static_cast<int64_t>(std::min<uint64_t>(
        SaturatingMultiply<uint64_t>(N.Count, Stride), INT64_MAX));
  return Types.intern(N);
}

TypeRow Worker::buildRecord(UnitView &View, const Entry &E, TypeKind Kind,
                            unsigned Depth) {
  // A declaration that names its type unit stands for that definition.
  if (E.A.has(Signature)) {
    EntryRef Full = reference(View, E.A[Signature]);
    if (Full && !(Full.View == &View && Full.Offset == E.Offset)) {
      TypeRow Row = typeRow(Full, Depth + 1);
      if (Row >= 0)
        return Row;
    }
  }
  TypeNode N;
  N.Kind = Kind;
  N.Align = static_cast<uint32_t>(E.A.number(Alignment));
  if (E.A.isConstant(ByteSize))
    N.Size = static_cast<int64_t>(E.A.number(ByteSize));
  N.IsDeclaration = E.A.number(Declaration) != 0;
  EntryRef Declared{&View, E.Offset};
  Entry D = E;
  StringRef Own;
  for (unsigned I = 0; I < MaxHops; ++I) {
    if (Own.empty())
      Own = Declared.View->string(D.A, Name);
    setPlace(*Declared.View, D.A, N.File, N.Line);
    if (!followDeclaration(Declared, D))
      break;
  }
  if (!Own.empty()) {
    std::string Arguments;
    if (!View.IsC && !Own.ends_with(">")) {
      appendTemplateArguments(View, E, Arguments, 0);
      if (!Arguments.empty())
        Own = Types.save((Own + Arguments).str());
    }
    if (N.IsDeclaration)
      DeclaredNames.insert(Declared.View->string(D.A, Name));
    N.Name = qualifiedName(Declared, Own);
  }
  SmallVector<MemberNode, 16> Members;
  if (!N.IsDeclaration) {
    // Not every compiler says of the record what a member asks for.
    N.Align = std::max(N.Align, addMembers(View, E, Members, Depth, 0));
    N.Members = Members;
  }
  return Types.intern(N);
}

/// Reads the members among the children of \p Parent.  The parts of a variant
/// (Rust, Ada) overlap as union members do.  Returns the largest alignment that
/// a member asks for, 0 none.
uint32_t Worker::addMembers(UnitView &View, const Entry &Parent,
                            SmallVectorImpl<MemberNode> &Members,
                            unsigned Depth, unsigned Nesting) {
  uint32_t Align = 0;
  if (!Parent.Abbrev->HasChildren)
    return Align;
  Cursor C = View.cursor(Parent.Next);
  Entry E;
  while (!C.atEnd()) {
    if (Budget == 0) {
      problem(View.U, Parent.Offset, "types overlap; members are left out");
      return Align;
    }
    --Budget;
    E.Offset = C.offset();
    uint64_t Code = C.uleb();
    E.Abbrev = Code ? View.table().find(Code) : nullptr;
    if (!E.Abbrev)
      return Align;
    switch (E.tag()) {
    case DW_TAG_member:
    case DW_TAG_inheritance: {
      if (!View.readAttributes(C, E))
        return Align;
      MemberNode M;
      if (addMember(View, E, M, Depth)) {
        Members.push_back(M);
        Align = std::max(Align, static_cast<uint32_t>(E.A.number(Alignment)));
      }
      break;
    }
    case DW_TAG_variant_part:
    case DW_TAG_variant:
      if (!View.readAttributes(C, E))
        return Align;
      if (Nesting < 8)
        Align =
            std::max(Align, addMembers(View, E, Members, Depth, Nesting + 1));
      break;
    default:
      View.table().skip(*E.Abbrev, C);
      break;
    }
    skipChildren(View, *E.Abbrev, C);
  }
  return Align;
}

bool Worker::addMember(UnitView &View, const Entry &E, MemberNode &M,
                       unsigned Depth) {
  const Attributes &A = E.A;
  M.IsBase = E.tag() == DW_TAG_inheritance;
  bool HasPlace = A.has(MemberLocation) || A.has(DataBitOffset);
  // Up to DWARF 4 a static member is a member without a place.
  if (!M.IsBase && !HasPlace && (A.has(External) || A.has(Declaration)))
    return false;
  M.Name = View.string(A, Name);
  M.Type = targetRow(View, E, Depth);
  if (A.has(DataBitOffset))
    M.OffsetBits = static_cast<int64_t>(A.number(DataBitOffset));
  if (A.has(MemberLocation)) {
    uint64_t Bytes = 0;
    if (A.isConstant(MemberLocation)) {
      Bytes = A.number(MemberLocation);
    } else if (auto Offset = memberOffset(View, A[MemberLocation])) {
      Bytes = *Offset;
    } else {
      return false; // a virtual base: its place depends on the whole object
    }
    if (Bytes > uint64_t(INT64_MAX) / 16) {
      problem(View.U, E.Offset, "a member has an impossible offset");
      return false;
    }
    M.OffsetBits += static_cast<int64_t>(Bytes * 8);
  }
  if (!A.has(BitSize))
    return true;
  M.BitSize = static_cast<uint32_t>(A.number(BitSize));
  if (!A.has(BitOffset))
    return true;
  // DWARF 2 and 3 count from the most significant bit of the storage unit,
  // whose size is the member's own or its type's.
  auto FromTop = static_cast<int64_t>(A.number(BitOffset));
  if (!View.U.List->File.littleEndian()) {
    M.OffsetBits += FromTop;
    return true;
  }
  int64_t Storage = A.has(ByteSize) ? static_cast<int64_t>(A.number(ByteSize))
                    : M.Type >= 0   ? Types[M.Type].Size
                                    : -1;
  if (Storage < 0 || Storage > 16) {
    problem(View.U, E.Offset, "a bit-field has no storage size");
    return false;
  }
  M.OffsetBits += Storage * 8 - FromTop - M.BitSize;
  return true;
}

} // namespace linemate::dwarf
