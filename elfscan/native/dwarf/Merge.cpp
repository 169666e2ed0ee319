//===- Merge.cpp - What the threads found, as one document ----------------===//
//
// Part of linemate, under the Apache License v2.0.
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

#include "Merge.h"
#include "Elf.h"
#include <tuple>

using namespace llvm;

namespace linemate::dwarf {

void Merged::add(Worker &W) {
  std::vector<int32_t> FileMap;
  for (StringRef Path : W.Types.files())
    FileMap.push_back(Types.fileRow(Path));
  auto File = [&](int32_t Row) { return Row < 0 ? Row : FileMap[Row]; };
  std::vector<TypeRow> &Map = RowMaps[&W];
  auto Row = [&](TypeRow R) { return R < 0 ? R : Map[R]; };
  SmallVector<MemberNode, 32> Members;
  for (size_t I = Map.size(); I < W.Types.size(); ++I) {
    TypeNode N = W.Types[static_cast<TypeRow>(I)];
    N.Target = Row(N.Target);
    N.File = File(N.File);
    Members.assign(N.Members.begin(), N.Members.end());
    for (MemberNode &M : Members)
      M.Type = Row(M.Type);
    N.Members = Members;
    Map.push_back(Types.intern(N));
  }
  for (VariableNode V : W.Variables) {
    V.Type = Row(V.Type);
    V.File = File(V.File);
    Variables.push_back(V);
  }
  for (LocalNode L : W.Locals) {
    L.Variable.Type = Row(L.Variable.Type);
    Locals.push_back(L);
  }
  for (PointeeNode P : W.Pointees)
    Pointees.push_back({Row(P.Pointer), Row(P.Target)});
  for (NamedFunctions At : W.Functions) {
    for (NamedFunction &F : At.Functions) {
      F.File = File(F.File);
      F.Result = Row(F.Result);
    }
    Functions.push_back(std::move(At));
  }
  for (RecordNode R : W.Records)
    if (R.Row >= 0)
      Records.push_back({Row(R.Row), R.Unit, R.Offset});
  for (ParameterNode P : W.Parameters) {
    P.Type = Row(P.Type);
    Parameters.push_back(P);
  }
  Units.insert(W.Units.begin(), W.Units.end());
  Problems.insert(Problems.end(), W.Problems.begin(), W.Problems.end());
  W.Variables.clear();
  W.Locals.clear();
  W.Pointees.clear();
  W.Functions.clear();
  W.Records.clear();
  W.Parameters.clear();
  W.Problems.clear();
}

static auto placeOf(const VariableNode &V) {
  return std::tuple(V.Tls, V.Section, V.Address);
}

/// Whether \p A describes an address better than \p B.
bool Merged::better(const VariableNode &A, const VariableNode &B) const {
  auto Rank = [&](const VariableNode &V) {
    // An object without bytes has the address of whatever follows it.
    bool Empty = V.Type >= 0 && Types[V.Type].Size == 0;
    auto It = SymbolNames.find(V.Address);
    bool Named = It != SymbolNames.end() && (It->second.contains(V.Name) ||
                                             It->second.contains(V.Linkage));
    bool Typed = V.Type >= 0 && Types[V.Type].Size > 0;
    return std::tuple(Empty, !Named, !Typed, V.Type < 0, V.Unit, V.Line, V.Name,
                      V.Function);
  };
  return Rank(A) < Rank(B);
}

/// Notes the symbols at addresses that differently named variables claim:
/// linkers resolve references into discarded sections to a valid address 0.
void Merged::markSymbols(const Object &File) {
  for (size_t I = 1; I < Variables.size(); ++I)
    if (placeOf(Variables[I]) == placeOf(Variables[I - 1]) &&
        Variables[I].Name != Variables[I - 1].Name)
      SymbolNames.try_emplace(Variables[I].Address);
  if (SymbolNames.empty() || File.relocatable())
    return;
  forEachSymbol(File.elf(), [&](StringRef Name, uint64_t Address) {
    auto It = SymbolNames.find(Address);
    if (It != SymbolNames.end())
      It->second.insert(Name);
  });
}

void Merged::selectVariables(const Object &File) {
  if (!File.relocatable())
    llvm::erase_if(Variables, [&](const VariableNode &V) {
      return !V.Tls && !File.isData(V.Address);
    });
  llvm::sort(Variables, [](const VariableNode &A, const VariableNode &B) {
    return placeOf(A) < placeOf(B);
  });
  markSymbols(File);
  std::vector<VariableNode> Kept;
  for (const VariableNode &V : Variables) {
    if (Kept.empty() || placeOf(Kept.back()) != placeOf(V))
      Kept.push_back(V);
    else if (better(V, Kept.back()))
      Kept.back() = V;
  }
  Variables = std::move(Kept);
}

StringSet<> Merged::undefinedNames() const {
  StringSet<> Names;
  std::vector<bool> Seen(Types.size());
  std::vector<TypeRow> Pending;
  auto Visit = [&](TypeRow Row) {
    if (Row < 0 || Seen[Row])
      return;
    Seen[Row] = true;
    Pending.push_back(Row);
  };
  for (const VariableNode &V : Variables)
    Visit(V.Type);
  for (const RecordNode &R : Records)
    Visit(R.Row);
  // Code reaches members of records that its own unit only declares: clang
  // describes a class in the unit that has its constructor.
  for (const PointeeNode &P : Pointees)
    Visit(P.Target);
  while (!Pending.empty()) {
    const TypeNode &N = Types[Pending.back()];
    Pending.pop_back();
    if (N.IsDeclaration && !N.Name.empty()) {
      auto It = Definitions.find(N.Name);
      if (It == Definitions.end())
        Names.insert(N.Name);
      else
        Visit(It->second);
    }
    Visit(N.Target);
    for (const MemberNode &M : N.Members)
      Visit(M.Type);
  }
  return Names;
}

void Merged::define() {
  llvm::sort(Records, [](const RecordNode &A, const RecordNode &B) {
    return std::tuple(A.Unit, A.Offset) < std::tuple(B.Unit, B.Offset);
  });
  for (const RecordNode &R : Records)
    if (!Types[R.Row].IsDeclaration)
      Definitions.try_emplace(Types[R.Row].Name, R.Row);
}

} // namespace linemate::dwarf
