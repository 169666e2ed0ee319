//===- Names.cpp - Qualified names and names of types ---------------------===//
//
// Part of linemate, under the Apache License v2.0.
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

#include "Worker.h"

using namespace llvm;
using namespace llvm::dwarf;

namespace linemate::dwarf {

constexpr unsigned MaxNameDepth = 24;
constexpr size_t MaxNameBytes = 4096; // names are printed; longer ones are cut

static bool isRecordTag(uint16_t Tag) {
  return Tag == DW_TAG_structure_type || Tag == DW_TAG_class_type ||
         Tag == DW_TAG_union_type || Tag == DW_TAG_interface_type;
}

static StringRef anonymousName(uint16_t Tag) {
  switch (Tag) {
  case DW_TAG_namespace:
    return "(anonymous namespace)";
  case DW_TAG_class_type:
    return "(anonymous class)";
  case DW_TAG_union_type:
    return "(anonymous union)";
  case DW_TAG_enumeration_type:
    return "(anonymous enum)";
  default:
    return "(anonymous struct)";
  }
}

/// Appends "ns::Class::" for the scopes around \p Ref.
void Worker::appendScopes(EntryRef Ref, std::string &Out, unsigned Depth) {
  ensureScopes(*Ref.View);
  const ScopeLink *Link = Ref.View->scopeOf(Ref.Offset);
  if (!Link || Depth == MaxNameDepth || Out.size() > MaxNameBytes)
    return;
  EntryRef Parent{Ref.View, Link->Parent};
  Entry E;
  if (!Parent.View->read(Parent.Offset, E))
    return;
  EntryRef Declared = Parent;
  uint16_t Tag = E.tag();
  StringRef Own = Parent.View->string(E.A, Name);
  for (unsigned I = 0; I < MaxHops && followDeclaration(Declared, E); ++I)
    if (Own.empty())
      Own = Declared.View->string(E.A, Name);
  appendScopes(Declared, Out, Depth + 1);
  Out += Own.empty() ? anonymousName(Tag) : Own;
  if (!Own.empty() && isRecordTag(Tag) && !Own.ends_with(">") &&
      Parent.View->read(Parent.Offset, E))
    appendTemplateArguments(*Parent.View, E, Out, Depth + 1);
  Out += "::";
}

StringRef Worker::qualifiedName(EntryRef Ref, StringRef Own) {
  if (Ref.View->IsC)
    return Own;
  ensureScopes(*Ref.View);
  if (!Ref.View->scopeOf(Ref.Offset))
    return Own;
  std::string Out;
  appendScopes(Ref, Out, 0);
  Out += Own;
  return Types.save(Out);
}

/// Name of the function at \p Offset of \p View, through its declaration.
StringRef Worker::functionName(UnitView &View, uint64_t Offset) {
  auto [It, Inserted] = FunctionNames.try_emplace({&View.U, Offset});
  if (!Inserted)
    return It->second;
  EntryRef Ref{&View, Offset};
  Entry E;
  if (!View.read(Offset, E))
    return {};
  StringRef Own;
  for (unsigned I = 0; I < MaxHops; ++I) {
    if (Own.empty())
      Own = Ref.View->string(E.A, Name);
    if (!followDeclaration(Ref, E))
      break;
  }
  StringRef Full = Own.empty() ? Own : qualifiedName(Ref, Own);
  FunctionNames[{&View.U, Offset}] = Full;
  return Full;
}

/// With -gsimple-template-names a name lacks its arguments; they are children.
void Worker::appendTemplateArguments(UnitView &View, const Entry &E,
                                     std::string &Out, unsigned Depth) {
  if (View.IsC || !E.Abbrev->HasChildren || Depth >= MaxNameDepth)
    return;
  Cursor C = View.cursor(E.Next);
  bool Any = false;
  Entry Child;
  while (!C.atEnd() && Budget) {
    --Budget;
    Child.Offset = C.offset();
    uint64_t Code = C.uleb();
    Child.Abbrev = Code ? View.table().find(Code) : nullptr;
    if (!Child.Abbrev)
      break;
    uint16_t Tag = Child.tag();
    bool IsPack = Tag == DW_TAG_GNU_template_parameter_pack;
    if (Tag != DW_TAG_template_type_parameter &&
        Tag != DW_TAG_template_value_parameter && !IsPack) {
      View.table().skip(*Child.Abbrev, C);
      skipChildren(View, *Child.Abbrev, C);
      continue;
    }
    if (!View.readAttributes(C, Child))
      break;
    if (IsPack)
      continue; // its arguments follow as children and are read as ours
    Out += Any ? ", " : "<";
    Any = true;
    if (Tag == DW_TAG_template_value_parameter)
      Out += std::to_string(static_cast<int64_t>(Child.A.number(ConstValue)));
    else if (Child.A.has(Type))
      appendTypeName(reference(View, Child.A[Type]), Out, Depth + 1);
    else
      Out += "void";
    if (Out.size() > MaxNameBytes)
      break;
  }
  if (Any)
    Out += ">";
}

/// Appends a type's name as C or C++ writes it.
void Worker::appendTypeName(EntryRef Ref, std::string &Out, unsigned Depth) {
  Entry E;
  if (!Ref || Depth == MaxNameDepth || Out.size() > MaxNameBytes ||
      !Ref.View->read(Ref.Offset, E)) {
    Out += '?';
    return;
  }
  appendDeclarator(Ref, E, Out, Depth);
}

void Worker::appendDeclarator(EntryRef Ref, const Entry &E, std::string &Out,
                              unsigned Depth) {
  UnitView &View = *Ref.View;
  auto AppendTarget = [&] {
    if (E.A.has(Type))
      appendTypeName(reference(View, E.A[Type]), Out, Depth + 1);
    else
      Out += "void";
  };
  auto AppendPointer = [&](StringRef Mark) {
    AppendTarget();
    // "int (*)(...)": the star goes inside the declarator of a function.
    if (StringRef(Out).ends_with(")(...)"))
      Out.insert(Out.size() - 6, Mark);
    else if (StringRef(Out).ends_with("(...)"))
      Out.insert(Out.size() - 5, ("(" + Mark + ")").str());
    else
      (Out += StringRef(Out).ends_with("*") ? "" : " ") += Mark;
  };
  switch (E.tag()) {
  case DW_TAG_pointer_type:
    AppendPointer("*");
    return;
  case DW_TAG_reference_type:
    AppendPointer("&");
    return;
  case DW_TAG_rvalue_reference_type:
    AppendPointer("&&");
    return;
  case DW_TAG_ptr_to_member_type:
    AppendPointer("::*");
    return;
  case DW_TAG_const_type:
    Out += "const ";
    AppendTarget();
    return;
  case DW_TAG_volatile_type:
    Out += "volatile ";
    AppendTarget();
    return;
  case DW_TAG_restrict_type:
    AppendTarget();
    return;
  case DW_TAG_atomic_type:
    Out += "_Atomic ";
    AppendTarget();
    return;
  case DW_TAG_array_type:
    AppendTarget();
    Out += " []";
    return;
  case DW_TAG_subroutine_type:
    AppendTarget();
    Out += " (...)";
    return;
  default:
    break;
  }
  StringRef Own = View.string(E.A, Name);
  if (Own.empty() && E.A.has(Signature)) {
    EntryRef Full = reference(View, E.A[Signature]);
    if (Full && Full.Offset != Ref.Offset)
      return appendTypeName(Full, Out, Depth + 1);
  }
  EntryRef Declared = Ref;
  Entry D = E;
  for (unsigned I = 0; I < MaxHops && followDeclaration(Declared, D); ++I)
    if (Own.empty())
      Own = Declared.View->string(D.A, Name);
  if (View.IsC) {
    if (E.tag() == DW_TAG_structure_type)
      Out += "struct ";
    else if (E.tag() == DW_TAG_union_type)
      Out += "union ";
    else if (E.tag() == DW_TAG_enumeration_type)
      Out += "enum ";
  } else {
    appendScopes(Declared, Out, Depth + 1);
  }
  if (!Own.empty())
    Out += Own;
  else
    Out += View.IsC ? StringRef("{...}") : anonymousName(E.tag());
  if (isRecordTag(E.tag()) && !Own.empty() && !Own.ends_with(">"))
    appendTemplateArguments(View, E, Out, Depth + 1);
}

} // namespace linemate::dwarf
