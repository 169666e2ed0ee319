//===- Merge.h - What the threads found, as one document --------*- C++ -*-===//
//
// Part of linemate, under the Apache License v2.0.
// SPDX-License-Identifier: Apache-2.0
//
// Owns the joining of the workers' tables: one variable for each address, one
// row for each type, declarations replaced by definitions.  The outcome does
// not depend on which thread read what.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_DWARF_MERGE_H
#define LINEMATE_DWARF_MERGE_H

#include "Worker.h"

namespace linemate::dwarf {

class Merged {
public:
  /// Takes over what \p W found since the last call.  \p W must outlive this.
  void add(Worker &W);
  /// Keeps one variable for each address; drops what is not in \p File's data
  /// (the linker discarded it).
  void selectVariables(const Object &File);
  /// Names of declared records that variables hold by value.
  llvm::StringSet<> undefinedNames() const;
  /// Makes the records found by name the definitions of declarations.
  void define();

  TypeStore Types;
  std::vector<VariableNode> Variables;
  std::vector<LocalNode> Locals;
  std::vector<PointeeNode> Pointees;
  std::vector<NamedFunctions> Functions;
  std::vector<RecordNode> Records;
  std::vector<ParameterNode> Parameters;
  std::map<uint32_t, UnitInfo> Units;
  std::vector<ProblemNode> Problems;
  llvm::StringMap<TypeRow> Definitions;

private:
  bool better(const VariableNode &A, const VariableNode &B) const;
  void markSymbols(const Object &File);

  std::map<const Worker *, std::vector<TypeRow>> RowMaps;
  // Names that the symbol table gives to contested addresses.
  std::map<uint64_t, llvm::StringSet<>> SymbolNames;
};

} // namespace linemate::dwarf

#endif
