//===- UnitFacts.cpp - The passes over a parsed unit ----------------------===//
//
// Owns the passes over a parsed unit and the document they make.  Bodies of
// functions in system headers are skipped: what those touch is named by the
// knowledge rows.  Those of templates are not: the program's own templates that
// only they use (std::make_unique, a container) would not be instantiated.
//
//===----------------------------------------------------------------------===//

#include "UnitTask.h"

#include "Emit.h"
#include "Records.h"
#include "Types.h"
#include "UnitBuilder.h"
#include "Variables.h"
#include "function/Collect.h"

#include "clang/AST/ASTConsumer.h"
#include "clang/AST/ASTContext.h"
#include "clang/Basic/LangStandard.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendAction.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"

using namespace clang;
using llvm::StringRef;

namespace linemate {

namespace {

constexpr size_t BufferBytes = 64 << 10;

class FactsConsumer : public ASTConsumer {
public:
  explicit FactsConsumer(Task &T) : T(T) {}

  bool shouldSkipFunctionBody(Decl *D) override {
    SourceManager &SM = D->getASTContext().getSourceManager();
    return !D->isTemplated() &&
           SM.isInSystemHeader(SM.getExpansionLoc(D->getLocation()));
  }

  void HandleTranslationUnit(ASTContext &Context) override;

private:
  std::string functions(UnitBuilder &Unit, const TranslationUnitDecl &Root);
  std::string variables(UnitBuilder &Unit, TypeTrees &Types,
                        const std::vector<const VarDecl *> &Found);
  std::string records(UnitBuilder &Unit, TypeTrees &Types);
  void files(UnitBuilder &Unit, JsonStream &Out);

  Task &T;
};

/// What a #include of the unit brought in although nothing refers to it.
void registerFiles(UnitBuilder &Unit) {
  SourceManager &SM = Unit.sources();
  for (unsigned I = 1, N = SM.local_sloc_entry_size(); I < N; ++I) {
    const SrcMgr::SLocEntry &Entry = SM.getLocalSLocEntry(I);
    if (Entry.isFile() && Entry.getFile().getContentCache().OrigEntry)
      Unit.file(
          SM.getFileID(SourceLocation::getFromRawEncoding(Entry.getOffset())));
  }
}

std::string FactsConsumer::functions(UnitBuilder &Unit,
                                     const TranslationUnitDecl &Root) {
  JsonText Json(BufferBytes);
  JsonStream &Out = *Json;
  Out.arrayBegin();
  for (const FunctionFacts &F : collectFunctions(Unit, Root)) {
    Out.arrayBegin();
    write(Out, F.Identity);
    write(Out, F);
    Out.arrayEnd();
  }
  Out.arrayEnd();
  return Json.take();
}

std::string
FactsConsumer::variables(UnitBuilder &Unit, TypeTrees &Types,
                         const std::vector<const VarDecl *> &Found) {
  JsonText Json(BufferBytes);
  JsonStream &Out = *Json;
  Out.arrayBegin();
  llvm::DenseSet<int64_t> Written;
  int64_t Order = 0;
  auto Write = [&](const VarDecl &V) {
    if (!Written.insert(Unit.symbol(V)).second)
      return;
    VariableFacts Facts = variableFacts(Unit, Types, V, Order++);
    if (Facts.Size < 0 || Facts.Size >= MostBytes)
      Unit.note(Facts.Name + ": left out: it fits into no process");
    else
      write(Out, Facts);
  };
  for (const VarDecl *V : Found)
    if (Unit.symbol(*V) >= 0)
      Write(*V);
  // What functions refer to and the walk passed over: of system headers.
  for (size_t I = 0; I < Unit.symbols().size(); ++I)
    if (const auto *V = dyn_cast<VarDecl>(Unit.symbols()[I]);
        V && !V->isInvalidDecl())
      Write(mainDeclaration(*V));
  Out.arrayEnd();
  return Json.take();
}

std::string FactsConsumer::records(UnitBuilder &Unit, TypeTrees &Types) {
  JsonText Json(BufferBytes);
  JsonStream &Out = *Json;
  Out.arrayBegin();
  // Members bring further records.
  for (size_t I = 0; I < Unit.records().size(); ++I) {
    RecordFacts R = recordFacts(Unit, Types, *Unit.records()[I]);
    Out.arrayBegin();
    write(Out, R.Key);
    write(Out, R);
    Out.arrayEnd();
  }
  Out.arrayEnd();
  return Json.take();
}

void FactsConsumer::files(UnitBuilder &Unit, JsonStream &Out) {
  registerFiles(Unit);
  std::vector<std::string> Hashes(Unit.files().size());
  std::vector<std::string> Contents(Unit.files().size());
  std::string All = T.Normal->Language;
  for (const std::string &Argument : T.Normal->Arguments)
    All += '\0' + Argument;
  SourceManager &SM = Unit.sources();
  for (unsigned I = 1, N = SM.local_sloc_entry_size(); I < N; ++I) {
    const SrcMgr::SLocEntry &Entry = SM.getLocalSLocEntry(I);
    if (!Entry.isFile() || !Entry.getFile().getContentCache().OrigEntry)
      continue;
    int64_t Index = Unit.file(
        SM.getFileID(SourceLocation::getFromRawEncoding(Entry.getOffset())));
    if (Index < 0 || !Contents[size_t(Index)].empty())
      continue;
    // The main file's entry has another name after a shared prefix.
    StringRef Name = Entry.getFile().getContentCache().OrigEntry->getName();
    if (Index == 0)
      Name = T.From->File;
    Contents[size_t(Index)] =
        Unit.files()[size_t(Index)] + '\0' + T.Files.contentHash(Name);
    bool IsSystem = Entry.getFile().getFileCharacteristic() != SrcMgr::C_User;
    if (!IsSystem)
      Hashes[size_t(Index)] = T.Files.sha256(Name);
  }
  std::vector<std::string> Sorted(Contents.begin(), Contents.end());
  llvm::sort(Sorted);
  for (const std::string &Content : Sorted)
    All += '\0' + Content;
  field(Out, "hash", contentHash(All));
  field(Out, "files", Unit.files());
  field(Out, "file_hashes", Hashes);
}

void FactsConsumer::HandleTranslationUnit(ASTContext &Context) {
  UnitBuilder Unit(Context, T.Rows, T.From->File, T.From->Directory,
                   T.Normal->Options);
  TypeTrees Types(Unit);
  const TranslationUnitDecl &Root = *Context.getTranslationUnitDecl();
  Declarations Found = findDeclarations(Unit, Root);
  std::string Functions = functions(Unit, Root);
  std::string Variables = variables(Unit, Types, Found.Variables);
  for (const RecordDecl *R : Found.Records)
    Unit.record(*R);
  std::string Records = records(Unit, Types);
  for (const VarDecl *V : Found.Variables)
    Unit.makesWithin(V->getType());

  const LangOptions &Language = Context.getLangOpts();
  JsonText Json(BufferBytes);
  JsonStream &Out = *Json;
  Out.objectBegin();
  field(Out, "kind", StringRef("unit"));
  field(Out, "path", T.From->File);
  field(Out, "directory", T.From->Directory);
  field(Out, "language", StringRef(Language.CPlusPlus ? "C++" : "C"));
  field(Out, "standard",
        StringRef(
            LangStandard::getLangStandardForKind(Language.LangStd).getName()));
  field(Out, "triple", Context.getTargetInfo().getTriple().str());
  field(Out, "options", T.Normal->Options);
  files(Unit, Out);
  field(Out, "symbols", Unit.identities());
  rawField(Out, "records", Records);
  rawField(Out, "variables", Variables);
  rawField(Out, "functions", Functions);
  optional(Out, "derived", Unit.derived());
  optional(Out, "made", Unit.made());
  optional(Out, "slots", Unit.slots());
  optional(Out, "kept", Unit.kept());
  optional(Out, "errors", T.Errors.take());
  optional(Out, "notes", Unit.notes());
  Out.objectEnd();
  T.Json = Json.take();
}

} // namespace

std::unique_ptr<ASTConsumer> FactsAction::CreateASTConsumer(CompilerInstance &,
                                                            StringRef) {
  return std::make_unique<FactsConsumer>(T);
}

} // namespace linemate
