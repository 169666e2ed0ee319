//===- Invocation.cpp - Clang's own options for a command -----------------===//
//
// Owns running clang's driver, which looks for the tool chain and costs
// milliseconds: once for each set of flags.
//
//===----------------------------------------------------------------------===//

#include "FlagKinds.h"
#include "Flags.h"

#include "clang/Basic/DiagnosticDriver.h"
#include "clang/Basic/DiagnosticOptions.h"
#include "clang/Driver/Compilation.h"
#include "clang/Driver/Driver.h"
#include "clang/Driver/Job.h"
#include "clang/Driver/Tool.h"
#include "clang/Driver/ToolChain.h"
#include "clang/Frontend/FrontendOptions.h"
#include "clang/Lex/HeaderSearchOptions.h"
#include "clang/Lex/PreprocessorOptions.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/Triple.h"

using namespace clang;
using llvm::StringRef;

namespace linemate {

namespace {

constexpr unsigned MaxRefused = 32;

/// Keeps the first error and the flag that it is about.
class FirstError : public DiagnosticConsumer {
public:
  void HandleDiagnostic(DiagnosticsEngine::Level Level,
                        const Diagnostic &Info) override {
    if (Level < DiagnosticsEngine::Error || !Text.empty())
      return;
    llvm::SmallString<128> Message;
    Info.FormatDiagnostic(Message);
    Text = std::string(Message);
    for (unsigned I = 0; I < Info.getNumArgs(); ++I) {
      auto Kind = Info.getArgKind(I);
      StringRef Argument;
      if (Kind == DiagnosticsEngine::ak_std_string)
        Argument = Info.getArgStdStr(I);
      else if (Kind == DiagnosticsEngine::ak_c_string)
        Argument = Info.getArgCStr(I);
      if (Argument.starts_with("-"))
        Flag = Argument.str();
      else if (!Argument.empty())
        Values.push_back(Argument.str());
    }
  }

  std::string Text;
  std::string Flag;
  std::vector<std::string> Values;
};

/// The index of the argument that the driver refused, 0 for none.
size_t refused(const std::vector<std::string> &Arguments,
               const FirstError &Error) {
  auto Find = [&](auto Matches) -> size_t {
    for (size_t I = 1; I < Arguments.size(); ++I)
      if (Matches(StringRef(Arguments[I])))
        return I;
    return 0;
  };
  if (!Error.Flag.empty()) {
    if (size_t I = Find([&](StringRef A) { return A == Error.Flag; }))
      return I;
    if (size_t I = Find([&](StringRef A) { return A.starts_with(Error.Flag); }))
      return I;
  }
  for (const std::string &Value : Error.Values)
    if (size_t I = Find([&](StringRef A) {
          return A.starts_with("-") && A.ends_with(Value);
        }))
      return I;
  return 0;
}

/// "aarch64-linux-gnu" of "/usr/bin/aarch64-linux-gnu-gcc-12", "" for none.
std::string targetOf(StringRef Compiler) {
  StringRef Name = llvm::sys::path::filename(Compiler);
  for (StringRef Tool : {"-gcc", "-g++", "-cc", "-c++", "-clang"}) {
    size_t At = Name.rfind(Tool);
    if (At == StringRef::npos || At == 0)
      continue;
    llvm::Triple Target(Name.take_front(At));
    if (Target.getArch() != llvm::Triple::UnknownArch && isProcessor(Target))
      return Target.str();
  }
  return {};
}

bool isMacro(StringRef Argument) {
  return Argument.starts_with("-D") || Argument.starts_with("-U");
}

/// Facts need neither warnings nor anything that writes files, and must come
/// out whatever else is wrong.
void adapt(CompilerInvocation &Invocation) {
  FrontendOptions &Frontend = Invocation.getFrontendOpts();
  Frontend.ProgramAction = frontend::ParseSyntaxOnly;
  Frontend.Plugins.clear();
  Frontend.AddPluginActions.clear();
  Frontend.PluginArgs.clear();
  Frontend.LLVMArgs.clear();
  Frontend.ShowStats = false;
  Frontend.DisableFree = false;
  Frontend.SkipFunctionBodies = true; // those that the consumer names
  Frontend.TimeTracePath.clear();
  Frontend.StatsFile.clear();
  Invocation.getDependencyOutputOpts() = {};
  DiagnosticOptions &Diagnostics = Invocation.getDiagnosticOpts();
  Diagnostics.Warnings.clear();
  Diagnostics.Remarks.clear();
  Diagnostics.IgnoreWarnings = true;
  Diagnostics.ErrorLimit = 0;
  Diagnostics.VerifyDiagnostics = false;
  Diagnostics.DiagnosticLogFile.clear();
  Diagnostics.DiagnosticSerializationFile.clear();
  LangOptions &Language = Invocation.getLangOpts();
  Language.SpellChecking = false;
  Language.ImplicitModules = false;
  Language.RetainCommentsFromSystemHeaders = false;
  Language.CommentOpts = {};
  PreprocessorOptions &Preprocessor = Invocation.getPreprocessorOpts();
  Preprocessor.DetailedRecord = false;
}

/// The folder of the gcc whose libraries clang's driver takes, "" for none.
std::string folderOfGcc(const driver::ToolChain &Chain) {
  std::string Text;
  llvm::raw_string_ostream Out(Text);
  Chain.printVerboseInfo(Out); // the tool chain's only public word on it
  StringRef Found = StringRef(Text).split("Selected GCC installation: ").second;
  return Found.take_until([](char C) { return C == '\n'; }).str();
}

/// What a unit of gcc includes of gcc's own and clang has in a package of its
/// own, if at all: omp.h, quadmath.h.  What clang has is clang's, also where
/// that looks for a next one of its name (stdatomic.h): gcc's is made of
/// builtin functions that clang has not.
void addHeadersOfGcc(CompilerInvocation &Invocation,
                     const driver::ToolChain &Chain, FileCache &Files) {
  HeaderSearchOptions &Search = Invocation.getHeaderSearchOpts();
  std::string Folder = folderOfGcc(Chain);
  if (Folder.empty() || !Search.UseBuiltinIncludes ||
      !Search.UseStandardSystemIncludes)
    return;
  Folder += "/include";
  Files.hideTwins(Folder, Search.ResourceDir + "/include");
  Search.AddPath(Folder, frontend::After, /*IsFramework=*/false,
                 /*IgnoreSysRoot=*/true);
}

} // namespace

Invocations::Invocations(llvm::IntrusiveRefCntPtr<FileCache> FileSystem,
                         std::string ResourceDirectory)
    : FileSystem(std::move(FileSystem)),
      ResourceDirectory(std::move(ResourceDirectory)) {}

Prepared Invocations::make(const Command &From,
                           std::vector<std::string> Arguments,
                           StringRef Language) {
  Prepared Out;
  std::string Compiler = LINEMATE_CLANG_PREFIX "/bin/clang";
  if (llvm::sys::path::filename(Arguments.front()).contains("++"))
    Compiler += "++";
  if (std::string Target = targetOf(Arguments.front()); !Target.empty())
    Arguments.push_back("--target=" + Target);
  Arguments.front() = Compiler;

  for (unsigned Attempt = 0; Attempt < MaxRefused; ++Attempt) {
    FirstError Errors;
    IntrusiveRefCntPtr<DiagnosticOptions> Options = new DiagnosticOptions;
    Options->IgnoreWarnings = true;
    DiagnosticsEngine Diagnostics(new DiagnosticIDs, Options, &Errors,
                                  /*ShouldOwnClient=*/false);
    driver::Driver Driver(Compiler, llvm::sys::getDefaultTargetTriple(),
                          Diagnostics, "linemate", FileSystem);
    Driver.setCheckInputsExist(false);
    Driver.setProbePrecompiled(false);
    if (!ResourceDirectory.empty())
      Driver.ResourceDir = ResourceDirectory;
    llvm::SmallVector<const char *, 64> Raw;
    for (const std::string &Argument : Arguments)
      Raw.push_back(Argument.c_str());
    std::string LanguageText = Language.str();
    for (const char *More :
         {"-w", "-fsyntax-only", "--no-default-config", "-x"})
      Raw.push_back(More);
    Raw.push_back(LanguageText.c_str());
    Raw.push_back("--");
    Raw.push_back(From.File.c_str());
    std::unique_ptr<driver::Compilation> Compilation(
        Driver.BuildCompilation(Raw));
    const driver::Command *Job = nullptr;
    if (Compilation && Errors.Text.empty())
      for (const driver::Command &Candidate : Compilation->getJobs())
        if (StringRef(Candidate.getCreator().getName()) == "clang")
          Job = &Candidate;
    if (Job) {
      auto Invocation = std::make_shared<CompilerInvocation>();
      CompilerInvocation::CreateFromArgs(*Invocation, Job->getArguments(),
                                         Diagnostics, Compiler.c_str());
      if (Errors.Text.empty()) {
        adapt(*Invocation);
        addHeadersOfGcc(*Invocation, Compilation->getDefaultToolChain(),
                        *FileSystem);
        Out.Invocation = std::move(Invocation);
        return Out;
      }
    }
    size_t Index = refused(Arguments, Errors);
    if (!Index) {
      Out.Problem = Errors.Text.empty() ? "the command compiles no C or C++"
                                        : Errors.Text;
      return Out;
    }
    Out.Dropped.push_back(Arguments[Index]);
    Arguments.erase(Arguments.begin() + ptrdiff_t(Index));
  }
  Out.Problem = "too many flags that clang does not know";
  return Out;
}

Prepared Invocations::prepare(const Command &From, const Flags &F) {
  // Macros differ from file to file in some builds; the driver only passes
  // them on.
  std::vector<std::string> Common;
  std::vector<std::pair<std::string, bool>> Macros;
  std::string Key = From.Directory + '\0' + F.Language;
  for (size_t I = 0; I < F.Arguments.size(); ++I) {
    StringRef Argument = F.Arguments[I];
    if (I && isMacro(Argument)) {
      bool IsUndefined = Argument[1] == 'U';
      StringRef Text = Argument.drop_front(2);
      if (Text.empty() && I + 1 < F.Arguments.size())
        Text = F.Arguments[++I];
      Macros.emplace_back(Text.str(), IsUndefined);
      continue;
    }
    Key += '\0' + F.Arguments[I];
    Common.push_back(F.Arguments[I]);
  }
  auto [Slot, IsNew] = Known.try_emplace(Key);
  if (IsNew)
    Slot->second = make(From, std::move(Common), F.Language);
  Prepared Out = Slot->second;
  if (!Out.Invocation)
    return Out;
  Out.Invocation = std::make_shared<CompilerInvocation>(*Out.Invocation);
  FrontendOptions &Frontend = Out.Invocation->getFrontendOpts();
  InputKind Kind =
      Frontend.Inputs.empty() ? InputKind() : Frontend.Inputs[0].getKind();
  Frontend.Inputs.assign(1, FrontendInputFile(From.File, Kind));
  for (const auto &[Text, IsUndefined] : Macros)
    if (IsUndefined)
      Out.Invocation->getPreprocessorOpts().addMacroUndef(Text);
    else
      Out.Invocation->getPreprocessorOpts().addMacroDef(Text);
  Out.Invocation->getFileSystemOpts().WorkingDir = From.Directory;
  return Out;
}

} // namespace linemate
