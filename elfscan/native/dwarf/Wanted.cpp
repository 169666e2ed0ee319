//===- Wanted.cpp - Records that were asked for by name -------------------===//
//
// Part of linemate, under the Apache License v2.0.
// SPDX-License-Identifier: Apache-2.0
//
// Finds records and typedefs that no variable needs, and the arguments of
// functions that point to one.
//
//===----------------------------------------------------------------------===//

#include "Spelling.h"
#include "Worker.h"

using namespace llvm;
using namespace llvm::dwarf;

namespace linemate::dwarf {

constexpr size_t MaxParameters = size_t(1) << 20; // of one thread
constexpr unsigned MaxArguments = 64;             // of one function

/// What stands before the arguments of a template.
static StringRef untemplated(StringRef Name) {
  return Name.ends_with(">") ? Name.take_until([](char C) { return C == '<'; })
                             : Name;
}

/// The part behind the last scope that is not within template arguments.
static StringRef unscoped(StringRef Name) {
  size_t Depth = 0;
  for (size_t I = Name.size(); I > 1; --I) {
    char C = Name[I - 1];
    if (C == '>' || C == ')')
      ++Depth;
    else if ((C == '<' || C == '(') && Depth)
      --Depth;
    else if (C == ':' && !Depth)
      return Name.drop_front(I);
  }
  return Name;
}

WantedNames::WantedNames(ArrayRef<std::string> Names) {
  for (const std::string &Asked : Names) {
    std::string Name = asWritten(Asked);
    Whole.insert(Name);
    Whole.insert(untemplated(Name)); // compilers spell arguments differently
    Last.insert(untemplated(unscoped(Name)));
  }
}

bool WantedNames::mayBe(StringRef Own) const {
  return Last.contains(untemplated(Own));
}

bool WantedNames::is(StringRef Read) const {
  std::string Written = asWritten(Read);
  StringRef Qualified = Written;
  for (StringRef Rest = Qualified;;) {
    if (Whole.contains(Rest) || Whole.contains(untemplated(Rest)))
      return true;
    size_t Scope = Rest.find("::");
    // Scopes of template arguments are none of the record's.
    if (Scope == StringRef::npos || Rest.find('<') < Scope)
      break;
    Rest = Rest.drop_front(Scope + 2);
  }
  StringRef Own = unscoped(Qualified);
  return Whole.contains(Own) || Whole.contains(untemplated(Own));
}

void Worker::readWanted(const Unit &U, const WantedNames &Wanted) {
  UnitView *View = open(U);
  if (!View)
    return;
  Current = View;
  Budget = 4 * (U.End - U.Offset) + 4096;
  Findings Found;
  walkUnit(*View, FindRecords | FindTypedefs | FindFunctions, Found,
           [](uint64_t, const Twine &) {});
  for (uint64_t Offset : Found.Records)
    addWanted(*View, Offset, Wanted);
  for (uint64_t Offset : Found.Typedefs)
    addWanted(*View, Offset, Wanted);
  for (uint64_t Offset : Found.Functions)
    addParameters(*View, Offset, Wanted);
  close();
}

void Worker::addWanted(UnitView &View, uint64_t Offset,
                       const WantedNames &Wanted) {
  EntryRef Ref{&View, Offset};
  Entry E;
  if (!View.read(Offset, E))
    return;
  StringRef Own = View.string(E.A, Name);
  for (unsigned I = 0; Own.empty() && I < MaxHops; ++I) {
    if (!followDeclaration(Ref, E))
      break;
    Own = Ref.View->string(E.A, Name);
  }
  if (Own.empty() || !Wanted.mayBe(Own))
    return;
  TypeRow Row = typeRow({&View, Offset}, 0);
  if (Row >= 0 && !Types[Row].IsDeclaration && Wanted.is(Types[Row].Name))
    Records.push_back({Row, View.U.Index, Offset});
}

/// The type of a function or parameter, its own or that of the entry which it
/// completes or copies.
EntryRef Worker::declaredType(EntryRef Ref, Entry &E) {
  for (unsigned I = 0; I < MaxHops; ++I) {
    if (E.A.has(Type))
      return reference(*Ref.View, E.A[Type]);
    if (!followDeclaration(Ref, E))
      break;
  }
  return {};
}

/// Follows typedefs and qualifiers; \p E becomes the entry where that ends.
/// \p Named is set if one of the names may be wanted.
EntryRef Worker::underlying(EntryRef Ref, Entry &E, const WantedNames *Wanted,
                            bool &Named) {
  for (unsigned I = 0; Ref && I < 4 * MaxHops; ++I) {
    if (!Ref.View->read(Ref.Offset, E))
      return {};
    if (Wanted && Wanted->mayBe(Ref.View->string(E.A, Name)))
      Named = true;
    switch (E.tag()) {
    case DW_TAG_typedef:
    case DW_TAG_const_type:
    case DW_TAG_volatile_type:
    case DW_TAG_restrict_type:
    case DW_TAG_atomic_type:
      Ref = E.A.has(Type) ? reference(*Ref.View, E.A[Type]) : EntryRef();
      break;
    default:
      if (!E.A.has(Signature)) // of a definition in a type unit
        return Ref;
      Ref = reference(*Ref.View, E.A[Signature]);
      break;
    }
  }
  return {};
}

/// How many of the registers for whole numbers an argument takes, -1: not
/// known, as of records.  \p Pointee becomes the wanted record that it points
/// to.
int Worker::registersOf(EntryRef Type, const WantedNames &Wanted,
                        TypeRow &Pointee) {
  Entry E;
  bool Named = false;
  EntryRef Core = underlying(Type, E, nullptr, Named);
  if (!Core)
    return -1;
  switch (E.tag()) {
  case DW_TAG_pointer_type:
  case DW_TAG_reference_type:
  case DW_TAG_rvalue_reference_type: {
    if (!E.A.has(Slot::Type))
      return 1;
    EntryRef Record =
        underlying(reference(*Core.View, E.A[Slot::Type]), E, &Wanted, Named);
    if (Record && Named)
      Pointee = typeRow(Record, 0);
    return 1;
  }
  case DW_TAG_enumeration_type:
    return 1;
  case DW_TAG_base_type: {
    StringRef Own = Core.View->string(E.A, Name);
    if (Own.contains("float") || Own.contains("double") ||
        Own.contains("Float") || Own.contains("complex") ||
        Own.contains("Decimal"))
      return Own.contains("long double") || Own.contains("complex") ? -1 : 0;
    return E.A.number(ByteSize) <= Core.View->U.Sizes.AddressSize ? 1 : -1;
  }
  default:
    return -1;
  }
}

void Worker::addParameters(UnitView &View, uint64_t Function,
                           const WantedNames &Wanted) {
  Entry E;
  if (!View.read(Function, E) || !(E.A.has(LowPc) || E.A.has(Ranges)))
    return; // a declaration, or the pattern of inlined copies
  ParameterNode P;
  if (E.A.has(LowPc)) {
    const Value &Low = E.A[LowPc];
    if (Low.Form == DW_FORM_addr) {
      P.Address = Low.Number;
      P.Section = View.U.section().targetOf(Low.Position);
    } else if (!View.indexedAddress(Low.Number, P.Address, P.Section)) {
      P.Address = 0;
    }
  }
  uint64_t Next = E.Next;
  EntryRef Result = declaredType({&View, Function}, E);
  bool Named = false;
  // Where a record is returned, its place may be the first argument.
  if (Result && underlying(Result, E, nullptr, Named) &&
      (E.tag() == DW_TAG_structure_type || E.tag() == DW_TAG_class_type ||
       E.tag() == DW_TAG_union_type || E.tag() == DW_TAG_array_type))
    return;
  size_t First = Parameters.size();
  Cursor C = View.cursor(Next);
  for (unsigned Seen = 0; !C.atEnd() && Budget && Seen < MaxArguments;) {
    --Budget;
    E.Offset = C.offset();
    uint64_t Code = C.uleb();
    E.Abbrev = Code ? View.table().find(Code) : nullptr;
    if (!E.Abbrev || !View.readAttributes(C, E))
      break;
    const Abbreviation &A = *E.Abbrev;
    if (E.tag() == DW_TAG_formal_parameter) {
      ++Seen;
      TypeRow Pointee = -1;
      EntryRef Type = declaredType({&View, E.Offset}, E);
      int Registers = Type ? registersOf(Type, Wanted, Pointee) : -1;
      if (Registers < 0)
        break;
      if (Pointee >= 0 && Parameters.size() < MaxParameters) {
        P.Type = Pointee;
        Parameters.push_back(P);
      }
      P.Argument += static_cast<unsigned>(Registers);
    }
    skipChildren(View, A, C);
  }
  if (Parameters.size() == First)
    return;
  VariableNode Described;
  describe(View, Function, Described);
  StringRef Symbol =
      Described.Linkage.empty() ? Described.Name : Described.Linkage;
  for (size_t I = First; I < Parameters.size(); ++I)
    Parameters[I].Symbol = Symbol;
}

} // namespace linemate::dwarf
