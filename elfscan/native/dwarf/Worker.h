//===- Worker.h - One thread's reading of units -----------------*- C++ -*-===//
//
// Part of linemate, under the Apache License v2.0.
// SPDX-License-Identifier: Apache-2.0
//
// Owns what a thread collects: variables, types, names.  Shares only finished
// unit lists with other threads.  Merging is left to Merge.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_DWARF_WORKER_H
#define LINEMATE_DWARF_WORKER_H

#include "Locals.h"
#include "TypeStore.h"
#include "Walk.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringSet.h"
#include <map>
#include <string>

namespace linemate::dwarf {

/// How long chains of specifications and origins are followed.
constexpr unsigned MaxHops = 8;
/// Problems kept; more add nothing.
constexpr size_t MaxProblems = 200;

struct VariableNode {
  llvm::StringRef Name;
  llvm::StringRef Linkage;
  llvm::StringRef Function; // enclosing, of function-local statics
  uint64_t Address = 0;
  int32_t Section = -1;
  TypeRow Type = -1;
  int32_t File = -1;
  uint32_t Line = 0;
  uint32_t Unit = 0;
  uint32_t Align = 0;
  bool Tls = false;
  bool External = false;
};

/// A local variable or parameter at one instruction.
struct LocalNode {
  LocalPlace Place;
  VariableNode Variable; ///< its name, function and type
};

/// A function around an instruction, and where it was inlined.
struct NamedFunction {
  llvm::StringRef Name;
  int32_t File = -1;
  uint32_t Line = 0, Column = 0;
  bool GivesMemory = false;
  TypeRow Result = -1; ///< the pointer that it returns, where it was asked for
                       ///< by its first instruction
};

/// The functions around an instruction, inlined ones first.
struct NamedFunctions {
  uint64_t Ip;
  std::vector<NamedFunction> Functions;
};

/// What a type of pointers points to.
struct PointeeNode {
  TypeRow Pointer;
  TypeRow Target;
};

struct UnitInfo {
  llvm::StringRef Name, CompDir, Producer;
  uint64_t Language = 0;
};

struct ProblemNode {
  uint32_t Unit;
  uint64_t Offset;
  std::string Reason;
};

/// A record definition found by name, or of all when all are asked for.
struct RecordNode {
  TypeRow Row;
  uint32_t Unit;
  uint64_t Offset;
};

/// A pointer argument to a record that was asked for by name.
struct ParameterNode {
  uint64_t Address = 0;  // of the function, 0: not one address
  int32_t Section = -1;  // of relocatable files
  uint32_t Argument = 0; // as calls pass it in registers, from 0
  TypeRow Type = -1;     // what it points to
  llvm::StringRef Symbol;
};

/// Names of records that were asked for.
class WantedNames {
public:
  explicit WantedNames(llvm::ArrayRef<std::string> Names);
  /// Whether an unqualified name may be that of one.
  bool mayBe(llvm::StringRef Own) const;
  /// Whether it is one: all of it, or what stands behind some of its scopes,
  /// whatever the template arguments.
  bool is(llvm::StringRef Read) const;

private:
  llvm::StringSet<> Whole, Last;
};

class SplitFiles;

class Worker {
public:
  /// With \p KeepsPointers also what types point to is read, where code looks.
  explicit Worker(SplitFiles &Split, bool KeepsPointers = false)
      : Split(Split), KeepsPointers(KeepsPointers) {}

  /// Reads the variables of one compilation unit.  With \p AllRecords also
  /// every named record.
  void readVariables(const Unit &U, bool AllRecords);
  /// Reads those records of \p U whose qualified name is in \p Wanted.
  void readRecords(const Unit &U, const llvm::StringSet<> &Wanted,
                   const llvm::StringSet<> &WantedBase);
  /// Reads the records and typedefs of \p U that are \p Wanted, and which
  /// arguments of its functions point to one.
  void readWanted(const Unit &U, const WantedNames &Wanted);
  /// Reads the static variables of \p U, its local ones at \p Places, and
  /// what their types point to.
  /// Names the functions \p Around them as well.
  void readLocals(const Unit &U, llvm::ArrayRef<LocalPlace> Places,
                  llvm::ArrayRef<FunctionsAt> Around);

  TypeStore Types;
  std::vector<VariableNode> Variables;
  std::vector<LocalNode> Locals;
  std::vector<PointeeNode> Pointees;
  std::vector<NamedFunctions> Functions;
  std::vector<RecordNode> Records;
  std::vector<ParameterNode> Parameters;
  std::map<uint32_t, UnitInfo> Units;
  std::vector<ProblemNode> Problems;
  /// The units that were read, with the split ones in place of skeletons.
  std::vector<const Unit *> Read;
  /// Unqualified names of records that were only declared.
  llvm::StringSet<> DeclaredNames;
  uint64_t EntryCount = 0;
  uint64_t Lost = 0; // units of which nothing could be read

private:
  // Views
  UnitView *view(const Unit &U);
  UnitView *open(const Unit &U);
  UnitView *openSplit(const Unit &U);
  void close();
  EntryRef reference(UnitView &From, const Value &V);
  void ensureScopes(UnitView &View);
  void problem(const Unit &U, uint64_t Offset, const llvm::Twine &Reason);

  // Names
  llvm::StringRef qualifiedName(EntryRef Ref, llvm::StringRef Own);
  llvm::StringRef functionName(UnitView &View, uint64_t Offset);
  void appendScopes(EntryRef Ref, std::string &Out, unsigned Depth);
  void appendTypeName(EntryRef Ref, std::string &Out, unsigned Depth);
  void appendDeclarator(EntryRef Ref, const Entry &E, std::string &Out,
                        unsigned Depth);
  void appendTemplateArguments(UnitView &View, const Entry &E, std::string &Out,
                               unsigned Depth);
  bool followDeclaration(EntryRef &Ref, Entry &E);

  // Types
  TypeRow typeRow(EntryRef Ref, unsigned Depth);
  TypeRow buildType(UnitView &View, const Entry &E, unsigned Depth);
  TypeRow buildRecord(UnitView &View, const Entry &E, TypeKind Kind,
                      unsigned Depth);
  TypeRow buildArray(UnitView &View, const Entry &E, unsigned Depth);
  TypeRow buildWrapper(UnitView &View, const Entry &E, TypeKind Kind,
                       unsigned Depth);
  uint32_t addMembers(UnitView &View, const Entry &Parent,
                      llvm::SmallVectorImpl<MemberNode> &Members,
                      unsigned Depth, unsigned Nesting);
  bool addMember(UnitView &View, const Entry &E, MemberNode &M, unsigned Depth);
  TypeRow targetRow(UnitView &View, const Entry &E, unsigned Depth);
  NamedFunction named(UnitView &View, const FunctionAt &At);
  TypeRow returnedPointer(UnitView &View, uint64_t Function);
  void setPlace(UnitView &View, const Attributes &A, int32_t &File,
                uint32_t &Line);

  void addWanted(UnitView &View, uint64_t Offset, const WantedNames &Wanted);
  void addParameters(UnitView &View, uint64_t Function,
                     const WantedNames &Wanted);
  EntryRef declaredType(EntryRef Ref, Entry &E);
  EntryRef underlying(EntryRef Ref, Entry &E, const WantedNames *Wanted,
                      bool &Named);
  int registersOf(EntryRef Type, const WantedNames &Wanted, TypeRow &Pointee);

  void addVariable(UnitView &View, const FoundVariable &Found);
  void addLocal(UnitView &View, const LocalPlace &Place);
  void noteUnit(UnitView &View);
  EntryRef describe(UnitView &View, uint64_t Offset, VariableNode &V);
  void followPointers();

  SplitFiles &Split;
  const bool KeepsPointers;
  std::map<const Unit *, std::unique_ptr<UnitView>> Views;
  llvm::DenseMap<std::pair<const Unit *, uint64_t>, TypeRow> Memo;
  llvm::DenseMap<std::pair<const Unit *, uint64_t>, llvm::StringRef>
      FunctionNames;
  std::shared_ptr<const AbbreviationTable> LastTable;
  std::pair<const UnitList *, uint64_t> LastTableKey;
  UnitView *Current = nullptr;
  llvm::DenseMap<uint64_t, int32_t> FileRows; // of the current unit
  uint64_t Budget = 0; // children that may still be read for this unit
  /// Of the current unit, in the order in which they were met.
  std::vector<std::pair<TypeRow, EntryRef>> Pointers;
};

} // namespace linemate::dwarf

#endif
