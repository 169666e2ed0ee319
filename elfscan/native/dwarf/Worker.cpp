//===- Worker.cpp - One thread's reading of units -------------------------===//
//
// Part of linemate, under the Apache License v2.0.
// SPDX-License-Identifier: Apache-2.0
//
// Views, references and variables.  Types and names are in their own files.
//
//===----------------------------------------------------------------------===//

#include "Worker.h"
#include "Split.h"
#include "llvm/ADT/Twine.h"

using namespace llvm;
using namespace llvm::dwarf;

namespace linemate::dwarf {

constexpr size_t MaxForeignViews = 64; // units kept open for references
/// Types that are followed through pointers, for one unit.
constexpr size_t MaxPointees = 4096;

void Worker::problem(const Unit &U, uint64_t Offset, const Twine &Reason) {
  if (Problems.size() < MaxProblems)
    Problems.push_back({U.Index, Offset, Reason.str()});
}

UnitView *Worker::open(const Unit &U) {
  std::pair<const UnitList *, uint64_t> Key(U.List, U.AbbrevOffset);
  if (!LastTable || LastTableKey != Key || LastTable->sizes() != U.Sizes) {
    LastTable = std::make_shared<AbbreviationTable>(
        U.List->File.Abbrev.Data, U.AbbrevOffset, U.List->File.swap(), U.Sizes);
    LastTableKey = Key;
  }
  auto View = std::make_unique<UnitView>(U, LastTable);
  if (!View->valid()) {
    problem(U, U.FirstEntry, "unit entry cannot be read");
    return nullptr;
  }
  if (U.Skeleton)
    View->AddrBaseOffset = U.SkeletonAddrBase;
  return (Views[&U] = std::move(View)).get();
}

/// Opens a compilation unit, or in place of a skeleton the unit it stands for.
UnitView *Worker::openSplit(const Unit &U) {
  UnitView *View = open(U);
  if (!View || U.Skeleton || !View->Root.A.has(DwoName))
    return View;
  std::optional<uint64_t> Id = U.DwoId;
  if (!Id && View->Root.A.has(DwoId))
    Id = View->Root.A[DwoId].Number;
  if (!Id)
    return View;
  uint64_t Base =
      View->Root.A.has(AddrBase) ? View->Root.A[AddrBase].Number : 0;
  auto Full = Split.find(U, *Id, View->string(View->Root.A, DwoName),
                         View->string(View->Root.A, CompDir), Base);
  if (Full)
    return open(**Full);
  problem(U, U.Offset, toString(Full.takeError()));
  return View;
}

UnitView *Worker::view(const Unit &U) {
  auto It = Views.find(&U);
  return It != Views.end() ? It->second.get() : open(U);
}

/// Gives back what belongs to the unit that was just read.  Rows of other
/// units (LTO, dwz, type units) stay known, as many units refer to them.
void Worker::close() {
  FileRows.clear();
  if (Views.size() ==
      1 + (Current->U.Skeleton
               ? 1
               : 0)) { // nobody looked outside: all keys are this unit's
    Memo.clear();
    FunctionNames.clear();
    Views.clear();
  } else if (Views.size() > MaxForeignViews) {
    Views.clear();
  }
  Current = nullptr;
}

EntryRef Worker::reference(UnitView &From, const Value &V) {
  const Unit &U = From.U;
  const Unit *Target = nullptr;
  uint64_t Offset = V.Number;
  switch (V.Form) {
  case DW_FORM_ref1:
  case DW_FORM_ref2:
  case DW_FORM_ref4:
  case DW_FORM_ref8:
  case DW_FORM_ref_udata:
    return {&From, SaturatingAdd(U.Offset, V.Number)};
  case DW_FORM_ref_addr:
    Target = U.List->find(V.Number);
    break;
  case DW_FORM_GNU_ref_alt:
  case DW_FORM_ref_sup4:
  case DW_FORM_ref_sup8:
    if (U.List->Alternate)
      Target = U.List->Alternate->find(V.Number);
    break;
  case DW_FORM_ref_sig8:
    Target = U.List->findSignature(V.Number);
    Offset = Target ? Target->TypeEntry : 0;
    break;
  default:
    break;
  }
  if (!Target)
    return {};
  UnitView *View = Target == &U ? &From : view(*Target);
  return {View, Offset};
}

void Worker::ensureScopes(UnitView &View) {
  if (View.IsC || View.HasScopes)
    return;
  Findings Unused;
  walkUnit(View, 0, Unused, [](uint64_t, const Twine &) {});
}

void Worker::setPlace(UnitView &View, const Attributes &A, int32_t &File,
                      uint32_t &Line) {
  if (A.has(DeclLine) && Line == 0)
    Line = static_cast<uint32_t>(A.number(DeclLine));
  if (!A.has(DeclFile) || File >= 0)
    return;
  uint64_t Index = A.number(DeclFile);
  // No table has so many files, and the two highest numbers are no keys.
  if (Index > UINT32_MAX)
    return;
  if (&View != Current) {
    File = Types.fileRow(View.files().path(Index));
    return;
  }
  auto [It, Inserted] = FileRows.try_emplace(Index, -1);
  if (Inserted)
    It->second = Types.fileRow(View.files().path(Index));
  File = It->second;
}

/// Moves to the entry that \p E completes or copies.  False at the end.
bool Worker::followDeclaration(EntryRef &Ref, Entry &E) {
  Slot S = E.A.has(Specification) ? Specification : Origin;
  if (!E.A.has(S))
    return false;
  EntryRef Next = reference(*Ref.View, E.A[S]);
  if (!Next || !Next.View->read(Next.Offset, E))
    return false;
  Ref = Next;
  return true;
}

void Worker::readVariables(const Unit &Job, bool AllRecords) {
  UnitView *View = openSplit(Job);
  if (!View) {
    ++Lost;
    return;
  }
  const Unit &U = View->U;
  Read.push_back(&U);
  Current = View;
  Budget = 4 * (U.End - U.Offset) + 4096;
  Findings Found;
  walkUnit(*View, FindVariables | (AllRecords ? unsigned(FindRecords) : 0U),
           Found, [&](uint64_t Offset, const Twine &Reason) {
             problem(U, Offset, Reason);
           });
  EntryCount += Found.EntryCount;
  for (const FoundVariable &Variable : Found.Variables)
    addVariable(*View, Variable);
  for (uint64_t Offset : Found.Records)
    Records.push_back({typeRow({View, Offset}, 0), U.Index, Offset});
  close();
}

void Worker::readRecords(const Unit &U, const StringSet<> &Wanted,
                         const StringSet<> &WantedBase) {
  UnitView *View = open(U);
  if (!View)
    return;
  Current = View;
  // In C no unit reaches members of what it only declares.
  if (KeepsPointers && View->IsC) {
    close();
    return;
  }
  Budget = 4 * (U.End - U.Offset) + 4096;
  Findings Found;
  walkUnit(*View, FindRecords, Found, [](uint64_t, const Twine &) {});
  Entry E;
  for (uint64_t Offset : Found.Records) {
    EntryRef Ref{View, Offset};
    if (!View->read(Offset, E))
      continue;
    StringRef Own = View->string(E.A, Name);
    for (unsigned I = 0; Own.empty() && I < MaxHops; ++I) {
      if (!followDeclaration(Ref, E))
        break;
      Own = Ref.View->string(E.A, Name);
    }
    if (!WantedBase.contains(Own))
      continue;
    TypeRow Row = typeRow({View, Offset}, 0);
    if (Row >= 0 && !Types[Row].IsDeclaration &&
        Wanted.contains(Types[Row].Name))
      Records.push_back({Row, U.Index, Offset});
  }
  followPointers();
  close();
}

/// Fills in what the entry at \p Offset and those that it completes say of a
/// variable.  Returns its type; the name stays empty where there is none.
EntryRef Worker::describe(UnitView &View, uint64_t Offset, VariableNode &V) {
  EntryRef Ref{&View, Offset};
  Entry E;
  if (!View.read(Offset, E))
    return {};
  StringRef Own;
  EntryRef Type;
  for (unsigned I = 0; I < MaxHops; ++I) {
    if (Own.empty())
      Own = Ref.View->string(E.A, Name);
    if (V.Linkage.empty())
      V.Linkage = Ref.View->string(E.A, LinkageName);
    if (!Type && E.A.has(Slot::Type))
      Type = reference(*Ref.View, E.A[Slot::Type]);
    V.External |= E.A.number(External) != 0;
    V.Align = std::max(V.Align, static_cast<uint32_t>(E.A.number(Alignment)));
    setPlace(*Ref.View, E.A, V.File, V.Line);
    if (!followDeclaration(Ref, E))
      break;
  }
  V.Name = Own.empty() ? V.Linkage : qualifiedName(Ref, Own);
  return Type;
}

void Worker::addVariable(UnitView &View, const FoundVariable &Found) {
  VariableNode V;
  V.Address = Found.Where.Address;
  V.Section = Found.Where.Section;
  V.Tls = Found.Where.Tls;
  V.Unit = View.U.Index;
  EntryRef Type = describe(View, Found.Offset, V);
  if (V.Name.empty())
    return; // clang describes string literals as nameless variables
  if (Found.Function)
    V.Function = functionName(View, Found.Function);
  // A part of a split variable does not have the type of the whole.
  if (Type && !Found.Where.Piece)
    V.Type = typeRow(Type, 0);
  noteUnit(View);
  Variables.push_back(V);
}

/// Has the unit in the document, as something in there is of it.
void Worker::noteUnit(UnitView &View) {
  UnitInfo &Info = Units[View.U.Index];
  if (!Info.Name.empty() || !Info.Producer.empty())
    return;
  const Attributes &A = View.Root.A;
  Info = {View.string(A, Name), View.string(A, CompDir),
          View.string(A, Producer), A.number(Language)};
}

void Worker::readLocals(const Unit &U, ArrayRef<LocalPlace> Places,
                        ArrayRef<FunctionsAt> Around) {
  UnitView *View = open(U);
  if (!View)
    return;
  Current = View;
  Budget = 4 * (U.End - U.Offset) + 4096;
  Findings Found;
  walkUnit(*View, FindVariables, Found,
           [&](uint64_t Offset, const Twine &Reason) {
             problem(U, Offset, Reason);
           });
  for (const FoundVariable &Variable : Found.Variables)
    addVariable(*View, Variable);
  for (const LocalPlace &Place : Places)
    addLocal(*View, Place);
  for (const FunctionsAt &At : Around) {
    NamedFunctions Named = {At.Ip, {}};
    for (const FunctionAt &One : At.Functions)
      Named.Functions.push_back(named(*View, One));
    Functions.push_back(std::move(Named));
  }
  followPointers();
  close();
}

/// With the file where it was inlined as line tables have it: by the folder
/// that was compiled in.
NamedFunction Worker::named(UnitView &View, const FunctionAt &At) {
  NamedFunction Named = {functionName(View, At.Entry), -1, At.CallLine,
                         At.CallColumn, At.GivesMemory};
  if (At.Begins)
    Named.Result = returnedPointer(View, At.Entry);
  if (!At.CallLine)
    return Named;
  std::string Path = View.files().path(At.CallFile);
  StringRef Folder = View.string(View.Root.A, CompDir);
  if (!Path.empty() && Path.front() != '/' && !Folder.empty())
    Path = (Folder + "/" + Path).str();
  if (!Path.empty())
    Named.File = Types.fileRow(Path);
  return Named;
}

/// The type of what a function returns, -1 where that is no pointer.
TypeRow Worker::returnedPointer(UnitView &View, uint64_t Function) {
  Entry E;
  if (!View.read(Function, E))
    return -1;
  EntryRef Type = declaredType({&View, Function}, E);
  bool Named = false;
  EntryRef Core = underlying(Type, E, nullptr, Named);
  bool IsPointer = Core && (E.tag() == DW_TAG_pointer_type ||
                            E.tag() == DW_TAG_reference_type ||
                            E.tag() == DW_TAG_rvalue_reference_type);
  return IsPointer ? typeRow(Core, 0) : -1;
}

void Worker::addLocal(UnitView &View, const LocalPlace &Place) {
  LocalNode L;
  L.Place = Place;
  L.Variable.Unit = View.U.Index;
  EntryRef Type = describe(View, Place.Entry, L.Variable);
  if (!Type || L.Variable.Name.empty())
    return;
  L.Variable.Type = typeRow(Type, 0);
  L.Variable.Function = functionName(View, Place.Function);
  noteUnit(View);
  Locals.push_back(L);
}

/// Reads what was met behind pointers, and behind those in turn.
void Worker::followPointers() {
  for (size_t I = 0; I < Pointers.size() && I < MaxPointees; ++I) {
    auto [Pointer, Target] = Pointers[I];
    Pointees.push_back({Pointer, typeRow(Target, 0)});
  }
  Pointers.clear();
}

} // namespace linemate::dwarf
