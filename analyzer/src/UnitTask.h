//===- UnitTask.h - A parse under way ------------------------------*- C++
//-*-===//
//
// Owns what the reader of a unit and the passes over it share.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ANALYZER_UNITTASK_H
#define LINEMATE_ANALYZER_UNITTASK_H

#include "Database.h"
#include "FileCache.h"
#include "Flags.h"
#include "Json.h"
#include "Knowledge.h"
#include "Unit.h"

#include "clang/Basic/Diagnostic.h"
#include "clang/Basic/SourceManager.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Frontend/FrontendAction.h"

#include <string>
#include <vector>

namespace linemate {

/// Errors as "file:line:column: text".
class ErrorList : public clang::DiagnosticConsumer {
public:
  explicit ErrorList(const Command &From) : From(&From) {}

  /// From here on the main file is that of \p Unit.
  void follow(const Command &Unit) { From = &Unit; }

  void HandleDiagnostic(clang::DiagnosticsEngine::Level Level,
                        const clang::Diagnostic &Info) override {
    if (Level < clang::DiagnosticsEngine::Error)
      return;
    llvm::SmallString<128> Message;
    Info.FormatDiagnostic(Message);
    if (isOfGcc(Message.str()))
      return;
    if (Errors.size() >= MaxErrors) {
      ++More;
      return;
    }
    std::string Text;
    if (Info.hasSourceManager() && Info.getLocation().isValid()) {
      const clang::SourceManager &SM = Info.getSourceManager();
      clang::SourceLocation At = SM.getExpansionLoc(Info.getLocation());
      bool IsMain = SM.getFileID(At) == SM.getMainFileID();
      Text = (IsMain ? From->File
                     : absolutePath(SM.getFilename(At), From->Directory)) +
             ":" + std::to_string(SM.getExpansionLineNumber(At)) + ":" +
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
  static constexpr size_t MaxErrors = 50;

  /// Since version 11 gcc is told so what frees the memory: the declaration is
  /// read whole without it.
  static bool isOfGcc(llvm::StringRef Message) {
    return Message.ends_with("attribute takes no arguments") &&
           Message.contains("malloc");
  }

  const Command *From;
  std::vector<std::string> Errors;
  size_t More = 0;
};

/// From and Normal may change while the main file is not yet entered.
struct Task {
  const Command *From;
  const Flags *Normal;
  const Knowledge &Rows;
  FileCache &Files;
  ErrorList &Errors;
  std::string Json;
};

/// Parses, and leaves the facts in \p T.
class FactsAction : public clang::ASTFrontendAction {
public:
  explicit FactsAction(Task &T) : T(T) {}

  std::unique_ptr<clang::ASTConsumer>
  CreateASTConsumer(clang::CompilerInstance &, llvm::StringRef) override;

private:
  Task &T;
};

/// A compiler that builds no modules: `#pragma clang module build` would start
/// a second compiler, which writes what it made to a folder for temporary
/// files.
class UnitCompiler : public clang::CompilerInstance {
public:
  void createModuleFromSource(clang::SourceLocation, llvm::StringRef,
                              llvm::StringRef) override {}
};

/// A compiler that reads through \p Files and reports to \p Errors.
void setUp(clang::CompilerInstance &Compiler,
           std::shared_ptr<clang::CompilerInvocation> Invocation,
           FileCache &Files, ErrorList &Errors);

/// What came of it.
UnitResult resultOf(Task &T, std::vector<std::string> Dropped);

} // namespace linemate

#endif
