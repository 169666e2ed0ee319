//===- UnitFacts.cpp - The passes over a parsed unit ----------------------===//
//
// Owns the passes over a parsed unit and the document they make.  Bodies of
// functions in system headers are skipped: what those touch is named by the
// knowledge rows.
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

class FactsConsumer : public ASTConsumer {
public:
  explicit FactsConsumer(Task &T) : T(T) {}

  bool shouldSkipFunctionBody(Decl *D) override {
    SourceManager &SM = D->getASTContext().getSourceManager();
    return SM.isInSystemHeader(SM.getExpansionLoc(D->getLocation()));
  }

  void HandleTranslationUnit(ASTContext &Context) override;

private:
  void functions(UnitBuilder &Unit, const TranslationUnitDecl &Root);
  void variables(UnitBuilder &Unit, TypeTrees &Types,
                 const std::vector<const VarDecl *> &Found);
  void records(UnitBuilder &Unit, TypeTrees &Types);
  void files(UnitBuilder &Unit, JsonText &Out);

  Task &T;
  JsonText Functions, Variables, Records;
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

void FactsConsumer::functions(UnitBuilder &Unit,
                              const TranslationUnitDecl &Root) {
  Functions.open('[');
  for (const FunctionFacts &F : collectFunctions(Unit, Root)) {
    Functions.open('[');
    Functions.value(F.Identity);
    write(Functions, F);
    Functions.close(']');
  }
  Functions.close(']');
}

void FactsConsumer::variables(UnitBuilder &Unit, TypeTrees &Types,
                              const std::vector<const VarDecl *> &Found) {
  Variables.open('[');
  llvm::DenseSet<int64_t> Written;
  int64_t Order = 0;
  auto Write = [&](const VarDecl &V) {
    if (!Written.insert(Unit.symbol(V)).second)
      return;
    write(Variables, variableFacts(Unit, Types, V, Order++));
  };
  for (const VarDecl *V : Found)
    if (Unit.symbol(*V) >= 0)
      Write(*V);
  // What functions refer to and the walk passed over: of system headers.
  for (size_t I = 0; I < Unit.symbols().size(); ++I)
    if (const auto *V = dyn_cast<VarDecl>(Unit.symbols()[I]);
        V && !V->isInvalidDecl())
      Write(mainDeclaration(*V));
  Variables.close(']');
}

void FactsConsumer::records(UnitBuilder &Unit, TypeTrees &Types) {
  Records.open('[');
  // Members bring further records.
  for (size_t I = 0; I < Unit.records().size(); ++I) {
    RecordFacts R = recordFacts(Unit, Types, *Unit.records()[I]);
    Records.open('[');
    Records.value(R.Key);
    write(Records, R);
    Records.close(']');
  }
  Records.close(']');
}

void FactsConsumer::files(UnitBuilder &Unit, JsonText &Out) {
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
  Out.field("hash", contentHash(All));
  Out.field("files", Unit.files());
  Out.field("file_hashes", Hashes);
}

void FactsConsumer::HandleTranslationUnit(ASTContext &Context) {
  UnitBuilder Unit(Context, T.Rows, T.From->File, T.From->Directory,
                   T.Normal->Options);
  TypeTrees Types(Unit);
  const TranslationUnitDecl &Root = *Context.getTranslationUnitDecl();
  Declarations Found = findDeclarations(Unit, Root);
  functions(Unit, Root);
  variables(Unit, Types, Found.Variables);
  for (const RecordDecl *R : Found.Records)
    Unit.record(*R);
  records(Unit, Types);

  const LangOptions &Language = Context.getLangOpts();
  JsonText Out;
  Out.open('{');
  Out.field("kind", StringRef("unit"));
  Out.field("path", T.From->File);
  Out.field("directory", T.From->Directory);
  Out.field("language", StringRef(Language.CPlusPlus ? "C++" : "C"));
  Out.field(
      "standard",
      StringRef(
          LangStandard::getLangStandardForKind(Language.LangStd).getName()));
  Out.field("triple", Context.getTargetInfo().getTriple().str());
  Out.key("options");
  write(Out, T.Normal->Options);
  files(Unit, Out);
  Out.field("symbols", Unit.identities());
  Out.key("records");
  Out.raw(Records.text());
  Out.key("variables");
  Out.raw(Variables.text());
  Out.key("functions");
  Out.raw(Functions.text());
  Out.optional("errors", T.Errors.take());
  Out.optional("notes", Unit.notes());
  Out.close('}');
  T.Json = std::move(Out.text());
}

} // namespace

std::unique_ptr<ASTConsumer> FactsAction::CreateASTConsumer(CompilerInstance &,
                                                            StringRef) {
  return std::make_unique<FactsConsumer>(T);
}

} // namespace linemate
