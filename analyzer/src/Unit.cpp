//===- Unit.cpp - One translation unit to facts ---------------------------===//
//
// Owns the passes over a parsed unit and the document they make.  Bodies of
// functions in system headers are skipped: what those touch is named by the
// knowledge rows.
//
//===----------------------------------------------------------------------===//

#include "Unit.h"

#include "Emit.h"
#include "Records.h"
#include "Types.h"
#include "UnitBuilder.h"
#include "Variables.h"
#ifdef LINEMATE_FUNCTIONS
#include "function/Collect.h"
#endif

#include "clang/AST/ASTConsumer.h"
#include "clang/AST/ASTContext.h"
#include "clang/Basic/LangStandard.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendAction.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/Path.h"

using namespace clang;
using llvm::StringRef;

namespace linemate {

namespace {

constexpr size_t MaxErrors = 50;

/// Errors as "file:line:column: text".
class ErrorList : public DiagnosticConsumer {
public:
  explicit ErrorList(std::string Directory) : Directory(std::move(Directory)) {}

  void HandleDiagnostic(DiagnosticsEngine::Level Level,
                        const Diagnostic &Info) override {
    if (Level < DiagnosticsEngine::Error)
      return;
    if (Errors.size() >= MaxErrors) {
      ++More;
      return;
    }
    llvm::SmallString<128> Message;
    Info.FormatDiagnostic(Message);
    std::string Text;
    if (Info.hasSourceManager() && Info.getLocation().isValid()) {
      const SourceManager &SM = Info.getSourceManager();
      SourceLocation At = SM.getExpansionLoc(Info.getLocation());
      Text = absolutePath(SM.getFilename(At), Directory) + ":" +
             std::to_string(SM.getExpansionLineNumber(At)) + ":" +
             std::to_string(SM.getExpansionColumnNumber(At)) + ": ";
    }
    Errors.push_back(Text + Message.str().str());
  }

  std::vector<std::string> take() {
    if (More)
      Errors.push_back(std::to_string(More) + " more errors");
    return std::move(Errors);
  }

private:
  std::string Directory;
  std::vector<std::string> Errors;
  size_t More = 0;
};

struct Task {
  const Command &From;
  const Flags &Normal;
  const Knowledge &Rows;
  FileCache &Files;
  ErrorList &Errors;
  JsonText Out;
};

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
#ifdef LINEMATE_FUNCTIONS
  for (const FunctionFacts &F : collectFunctions(Unit, Root)) {
    Functions.open('[');
    Functions.value(F.Identity);
    write(Functions, F);
    Functions.close(']');
  }
#endif
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
  std::string All = T.Normal.Language;
  for (const std::string &Argument : T.Normal.Arguments)
    All += '\0' + Argument;
  SourceManager &SM = Unit.sources();
  for (unsigned I = 1, N = SM.local_sloc_entry_size(); I < N; ++I) {
    const SrcMgr::SLocEntry &Entry = SM.getLocalSLocEntry(I);
    if (!Entry.isFile() || !Entry.getFile().getContentCache().OrigEntry)
      continue;
    int64_t Index = Unit.file(
        SM.getFileID(SourceLocation::getFromRawEncoding(Entry.getOffset())));
    if (Index < 0 || !Hashes[size_t(Index)].empty())
      continue;
    bool IsSystem = Entry.getFile().getFileCharacteristic() != SrcMgr::C_User;
    if (!IsSystem)
      Hashes[size_t(Index)] = T.Files.sha256(
          Entry.getFile().getContentCache().OrigEntry->getName());
  }
  for (const std::string &Path : T.Files.filesRead())
    All += '\0' + Path + '\0' + T.Files.contentHash(Path);
  Out.field("hash", contentHash(All));
  Out.field("files", Unit.files());
  Out.field("file_hashes", Hashes);
}

void FactsConsumer::HandleTranslationUnit(ASTContext &Context) {
  UnitBuilder Unit(Context, T.Rows, T.From.File, T.From.Directory,
                   T.Normal.Options);
  TypeTrees Types(Unit);
  const TranslationUnitDecl &Root = *Context.getTranslationUnitDecl();
  Declarations Found = findDeclarations(Unit, Root);
  functions(Unit, Root);
  variables(Unit, Types, Found.Variables);
  for (const RecordDecl *R : Found.Records)
    Unit.record(*R);
  records(Unit, Types);

  const LangOptions &Language = Context.getLangOpts();
  JsonText &Out = T.Out;
  Out.open('{');
  Out.field("kind", StringRef("unit"));
  Out.field("path", T.From.File);
  Out.field("directory", T.From.Directory);
  Out.field("language", StringRef(Language.CPlusPlus ? "C++" : "C"));
  Out.field(
      "standard",
      StringRef(
          LangStandard::getLangStandardForKind(Language.LangStd).getName()));
  Out.field("triple", Context.getTargetInfo().getTriple().str());
  Out.key("options");
  write(Out, T.Normal.Options);
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
}

class FactsAction : public ASTFrontendAction {
public:
  explicit FactsAction(Task &T) : T(T) {}

  std::unique_ptr<ASTConsumer> CreateASTConsumer(CompilerInstance &,
                                                 StringRef) override {
    return std::make_unique<FactsConsumer>(T);
  }

private:
  Task &T;
};

} // namespace

UnitReader::UnitReader(const Knowledge &Rows, std::string ResourceDirectory)
    : Rows(Rows), Files(new FileCache),
      Prepare(Files, std::move(ResourceDirectory)) {}

UnitResult UnitReader::read(const Command &From, const Flags &F) {
  UnitResult Out;
  Files->beginUnit();
  if (auto Status = Files->status(From.Directory);
      !Status || !Status->isDirectory()) {
    Out.Failure = "its folder does not exist: " + From.Directory;
    return Out;
  }
  if (auto Status = Files->status(From.File); !Status) {
    Out.Failure = "cannot be read: " + Status.getError().message();
    return Out;
  }
  Prepared P = Prepare.prepare(From, F);
  Out.Dropped = P.Dropped;
  if (!P.Invocation) {
    Out.Failure = P.Problem;
    return Out;
  }

  ErrorList Errors(From.Directory);
  Task T{From, F, Rows, *Files, Errors, {}};
  CompilerInstance Compiler;
  Compiler.setInvocation(std::move(P.Invocation));
  Compiler.createDiagnostics(&Errors, /*ShouldOwnClient=*/false);
  Compiler.getDiagnostics().setFatalsAsError(true);
  Compiler.setFileManager(new FileManager(Compiler.getFileSystemOpts(), Files));
  Compiler.createSourceManager(Compiler.getFileManager());
  FactsAction Action(T);
  Compiler.ExecuteAction(Action);
  Out.Json = std::move(T.Out.text());
  if (Out.Json.empty()) {
    std::vector<std::string> Reasons = Errors.take();
    Out.Failure = Reasons.empty() ? "clang could not start on it" : Reasons[0];
  }
  return Out;
}

} // namespace linemate
