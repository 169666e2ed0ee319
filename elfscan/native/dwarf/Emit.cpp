//===- Emit.cpp - The document that goes to standard output ---------------===//
//
// Part of linemate, under the Apache License v2.0.
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

#include "Emit.h"
#include "Spelling.h"
#include "llvm/BinaryFormat/MsgPackWriter.h"
#include "llvm/Support/JSON.h"
#include <tuple>

using namespace llvm;

namespace linemate::dwarf {

constexpr uint64_t Version = 1;
constexpr unsigned MaxTreeDepth = 1000;

namespace {

/// Numbers the types that are reachable, children first.
class Numbering {
public:
  explicit Numbering(const Merged &M)
      : M(M), Rows(M.Types.size(), Unvisited), Sizes(M.Types.size(), -1) {}

  TypeRow row(TypeRow Old, unsigned Depth = 0) {
    Old = definition(Old);
    if (Old < 0)
      return -1;
    if (Rows[Old] != Unvisited)
      return Rows[Old]; // -1 while in progress: a hostile cycle is cut
    Rows[Old] = -1;
    if (Depth == MaxTreeDepth)
      return -1;
    const TypeNode &N = M.Types[Old];
    row(N.Target, Depth + 1);
    for (const MemberNode &Member : N.Members)
      row(Member.Type, Depth + 1);
    Sizes[Old] = sizeOf(N);
    Rows[Old] = static_cast<TypeRow>(Order.size());
    Order.push_back(Old);
    return Rows[Old];
  }
  TypeRow numbered(TypeRow Old) const {
    Old = definition(Old);
    return Old < 0 || Rows[Old] < 0 ? -1 : Rows[Old];
  }
  int64_t size(TypeRow Old) const { return Sizes[Old]; }

  std::vector<TypeRow> Order;

private:
  static constexpr TypeRow Unvisited = -2;

  TypeRow definition(TypeRow Row) const {
    if (Row < 0 || !M.Types[Row].IsDeclaration)
      return Row;
    auto It = M.Definitions.find(M.Types[Row].Name);
    return It == M.Definitions.end() ? Row : It->second;
  }
  /// The size, where a definition from another unit may have supplied it.
  int64_t sizeOf(const TypeNode &N) const {
    TypeRow Target = definition(N.Target);
    if (N.Size >= 0 || Target < 0 || Sizes[Target] < 0)
      return N.Size;
    if (N.Kind == TypeKind::Array)
      return N.Count < 0
                 ? -1
                 : static_cast<int64_t>(std::min<uint64_t>(
                       SaturatingMultiply<uint64_t>(N.Count, Sizes[Target]),
                       INT64_MAX));
    bool IsWrapper = N.Kind == TypeKind::Typedef || N.Kind == TypeKind::Const ||
                     N.Kind == TypeKind::Volatile ||
                     N.Kind == TypeKind::Atomic || N.Kind == TypeKind::Restrict;
    return IsWrapper ? Sizes[Target] : N.Size;
  }

  const Merged &M;
  std::vector<TypeRow> Rows;
  std::vector<int64_t> Sizes;
};

class Document {
public:
  Document(Merged &M, raw_ostream &OS) : M(M), Out(OS), Types(M) {}

  void write(bool AllRecords) {
    for (const VariableNode &V : M.Variables)
      Types.row(V.Type);
    for (const LocalNode &L : M.Locals)
      Types.row(L.Variable.Type);
    for (const PointeeNode &P : M.Pointees) {
      Types.row(P.Pointer);
      Types.row(P.Target);
    }
    for (const NamedFunctions &At : M.Functions)
      for (const NamedFunction &F : At.Functions)
        Types.row(F.Result);
    if (AllRecords)
      for (const RecordNode &R : M.Records)
        Types.row(R.Row);
    for (const ParameterNode &P : M.Parameters)
      Types.row(P.Type);
    Out.writeArraySize(10);
    Out.write(Version);
    writeUnits();
    writeFiles();
    writeTypes();
    writeVariables();
    writeProblems();
    writeLocals();
    writePointees();
    writeFunctions();
    writeParameters();
  }

private:
  void integer(int64_t Value) { Out.write(Value); }
  void text(StringRef Text) {
    if (json::isUTF8(Text))
      Out.write(Text);
    else
      Out.write(StringRef(json::fixUTF8(Text)));
  }
  void name(StringRef Name) {
    if (Name.contains(UnwrittenScope))
      text(asWritten(Name));
    else
      text(Name);
  }
  int32_t fileRow(int32_t Old) {
    if (Old < 0)
      return -1;
    auto [It, Inserted] =
        FileRows.try_emplace(Old, static_cast<int32_t>(Files.size()));
    if (Inserted)
      Files.push_back(Old);
    return It->second;
  }

  void writeUnits() {
    Out.writeArraySize(static_cast<uint32_t>(M.Units.size()));
    for (const auto &[Index, Info] : M.Units) {
      UnitRows[Index] = static_cast<int32_t>(UnitRows.size());
      Out.writeArraySize(4);
      text(Info.Name);
      text(Info.CompDir);
      text(Info.Producer);
      StringRef Language =
          llvm::dwarf::LanguageString(static_cast<unsigned>(Info.Language));
      Language.consume_front("DW_LANG_");
      text(Language);
    }
  }
  void writeFiles() {
    for (TypeRow Row : Types.Order)
      fileRow(M.Types[Row].File);
    for (const VariableNode &V : M.Variables)
      fileRow(V.File);
    for (const NamedFunctions &At : M.Functions)
      for (const NamedFunction &F : At.Functions)
        fileRow(F.File);
    Out.writeArraySize(static_cast<uint32_t>(Files.size()));
    for (int32_t File : Files)
      text(M.Types.files()[File]);
  }
  void writeTypes() {
    Out.writeArraySize(static_cast<uint32_t>(Types.Order.size()));
    for (TypeRow Row : Types.Order) {
      const TypeNode &N = M.Types[Row];
      Out.writeArraySize(10);
      integer(static_cast<int64_t>(N.Kind));
      name(N.Name);
      integer(Types.size(Row));
      integer(N.Align);
      integer(Types.numbered(N.Target));
      integer(N.Count);
      Out.writeArraySize(static_cast<uint32_t>(N.Members.size()));
      for (const MemberNode &Member : N.Members) {
        Out.writeArraySize(5);
        name(Member.Name);
        integer(Member.OffsetBits);
        integer(Types.numbered(Member.Type));
        integer(Member.BitSize);
        Out.write(Member.IsBase);
      }
      integer(fileRow(N.File));
      integer(N.Line);
      Out.writeArraySize(static_cast<uint32_t>(N.Dimensions.size()));
      for (int64_t Elements : N.Dimensions)
        integer(Elements);
    }
  }
  void writeVariables() {
    Out.writeArraySize(static_cast<uint32_t>(M.Variables.size()));
    for (const VariableNode &V : M.Variables) {
      Out.writeArraySize(12);
      name(V.Name);
      text(V.Linkage);
      Out.write(V.Address);
      integer(V.Section);
      integer(Types.numbered(V.Type));
      integer(fileRow(V.File));
      integer(V.Line);
      integer(UnitRows[V.Unit]);
      name(V.Function);
      Out.write(V.Tls);
      Out.write(V.External);
      integer(V.Align);
    }
  }
  void writeProblems() {
    llvm::sort(M.Problems, [](const ProblemNode &A, const ProblemNode &B) {
      return std::tie(A.Unit, A.Offset, A.Reason) <
             std::tie(B.Unit, B.Offset, B.Reason);
    });
    size_t Count = std::min(M.Problems.size(), MaxProblems);
    Out.writeArraySize(static_cast<uint32_t>(Count));
    for (const ProblemNode &P : ArrayRef(M.Problems).take_front(Count)) {
      Out.writeArraySize(3);
      integer(P.Unit);
      Out.write(P.Offset);
      text(P.Reason);
    }
  }

  void writeLocals() {
    Out.writeArraySize(static_cast<uint32_t>(M.Locals.size()));
    for (const LocalNode &L : M.Locals) {
      Out.writeArraySize(7);
      Out.write(L.Place.Ip);
      name(L.Variable.Name);
      name(L.Variable.Function);
      integer(Types.numbered(L.Variable.Type));
      Out.write(L.Place.Where.Register);
      integer(L.Place.Where.Offset);
      Out.write(L.Place.InMemory);
    }
  }
  void writeFunctions() {
    Out.writeArraySize(static_cast<uint32_t>(M.Functions.size()));
    for (const NamedFunctions &At : M.Functions) {
      Out.writeArraySize(2);
      Out.write(At.Ip);
      Out.writeArraySize(static_cast<uint32_t>(At.Functions.size()));
      for (const NamedFunction &F : At.Functions) {
        Out.writeArraySize(6);
        name(F.Name);
        integer(fileRow(F.File));
        Out.write(static_cast<uint64_t>(F.Line));
        Out.write(static_cast<uint64_t>(F.Column));
        Out.write(F.GivesMemory);
        integer(Types.numbered(F.Result));
      }
    }
  }
  void writePointees() {
    Out.writeArraySize(static_cast<uint32_t>(M.Pointees.size()));
    for (const PointeeNode &P : M.Pointees) {
      Out.writeArraySize(2);
      integer(Types.numbered(P.Pointer));
      integer(Types.numbered(P.Target));
    }
  }

  void writeParameters() {
    llvm::sort(
        M.Parameters, [](const ParameterNode &A, const ParameterNode &B) {
          return std::tie(A.Section, A.Address, A.Symbol, A.Argument, A.Type) <
                 std::tie(B.Section, B.Address, B.Symbol, B.Argument, B.Type);
        });
    Out.writeArraySize(static_cast<uint32_t>(M.Parameters.size()));
    for (const ParameterNode &P : M.Parameters) {
      Out.writeArraySize(5);
      Out.write(P.Address);
      integer(P.Section);
      integer(P.Argument);
      integer(Types.numbered(P.Type));
      text(P.Symbol);
    }
  }

  Merged &M;
  msgpack::Writer Out;
  Numbering Types;
  DenseMap<int32_t, int32_t> FileRows;
  std::vector<int32_t> Files;
  DenseMap<uint32_t, int32_t> UnitRows;
};

} // namespace

void emitUnwind(ArrayRef<UnwindStep> Steps, raw_ostream &OS) {
  msgpack::Writer Out(OS);
  Out.writeArraySize(static_cast<uint32_t>(Steps.size()));
  for (const UnwindStep &Step : Steps) {
    Out.writeArraySize(5);
    Out.write(Step.Ip);
    Out.write(Step.Frame.Register);
    Out.write(Step.Frame.Offset);
    Out.write(Step.Return);
    Out.writeArraySize(static_cast<uint32_t>(Step.Saved.size()));
    for (const RegisterPlus &Saved : Step.Saved) {
      Out.writeArraySize(2);
      Out.write(Saved.Register);
      Out.write(Saved.Offset);
    }
  }
}

void emit(Merged &M, bool AllRecords, raw_ostream &OS) {
  Document(M, OS).write(AllRecords);
}

} // namespace linemate::dwarf
