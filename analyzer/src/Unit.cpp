//===- Unit.cpp - One translation unit to facts ---------------------------===//
//
// Owns a plain parse of one unit; see Prefix.h for units that share one.
//
//===----------------------------------------------------------------------===//

#include "Unit.h"

#include "UnitTask.h"

#include "clang/Basic/FileManager.h"
#include "clang/Frontend/CompilerInstance.h"

using namespace clang;

namespace linemate {

void setUp(CompilerInstance &Compiler,
           std::shared_ptr<CompilerInvocation> Invocation, FileCache &Files,
           ErrorList &Errors) {
  Compiler.setInvocation(std::move(Invocation));
  Compiler.createDiagnostics(&Errors, /*ShouldOwnClient=*/false);
  // A missing header must not silence the rest.
  Compiler.getDiagnostics().setFatalsAsError(true);
  Compiler.setFileManager(
      new FileManager(Compiler.getFileSystemOpts(), &Files));
  Compiler.createSourceManager(Compiler.getFileManager());
}

UnitResult resultOf(Task &T, std::vector<std::string> Dropped) {
  UnitResult Out;
  Out.Json = std::move(T.Json);
  Out.Dropped = std::move(Dropped);
  if (Out.Json.empty()) {
    std::vector<std::string> Reasons = T.Errors.take();
    Out.Failure = Reasons.empty() ? "clang could not start on it" : Reasons[0];
  }
  return Out;
}

UnitReader::UnitReader(const Knowledge &Rows, std::string ResourceDirectory,
                       Overlay Moved, Sink Finished)
    : Rows(Rows), Files(new FileCache(std::move(Moved))),
      Prepare(Files, std::move(ResourceDirectory)),
      Finished(std::move(Finished)) {}

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
  if (auto File = Files->openFileForRead(From.File); !File) {
    Out.Failure = "cannot be read: " + File.getError().message();
    return Out;
  }
  Prepared P = Prepare.prepare(From, F);
  Out.Dropped = P.Dropped;
  if (!P.Invocation) {
    Out.Failure = P.Problem;
    return Out;
  }

  ErrorList Errors(From);
  Task T{&From, &F, Rows, *Files, Errors, {}};
  UnitCompiler Compiler;
  setUp(Compiler, std::move(P.Invocation), *Files, Errors);
  FactsAction Action(T);
  Compiler.ExecuteAction(Action);
  Out = resultOf(T, std::move(P.Dropped));
  finished(Out);
  return Out;
}

} // namespace linemate
