//===- facts.cpp - Fuzz target: the facts of a translation unit -----------===//
//
// Owns the input's form: a byte of switches, then the choices of Program.h, or
// the text of the program itself.  Parses in this process and reads no file.
//
//===----------------------------------------------------------------------===//

#include "FileCache.h"
#include "Knowledge.h"
#include "Program.h"
#include "ResponseFiles.h"
#include "UnitTask.h"

#include "clang/Basic/Stack.h"
#include "clang/Frontend/CompilerInstance.h"
#include "clang/Lex/PreprocessorOptions.h"

#include <cstdlib>

using namespace linemate;

namespace {

enum Switch : uint8_t { Cxx = 1, Text = 2 };
constexpr const char *Folder = "/unit";

const Knowledge &knowledge() {
  static const Knowledge Rows = [] {
    clang::noteBottomOfStack();
    llvm::Expected<Knowledge> Loaded =
        Knowledge::load(LINEMATE_KNOWLEDGE_DIR, "");
    if (!Loaded)
      llvm::report_fatal_error(Loaded.takeError());
    return std::move(*Loaded);
  }();
  return Rows;
}

/// The driver looks at the system once, here at one without files.
Prepared prepare(const Command &From, const Flags &F) {
  static Invocations *Known = new Invocations(
      new FileCache(new llvm::vfs::InMemoryFileSystem), "/resources");
  return Known->prepare(From, F);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *Bytes, size_t Size) {
  if (Size < 2)
    return 0;
  const Knowledge &Rows = knowledge();
  bool IsCxx = Bytes[0] & Cxx;
  std::string Program =
      Bytes[0] & Text
          ? std::string(reinterpret_cast<const char *>(Bytes) + 1, Size - 1)
          : fuzz::makeProgram(Bytes + 1, Size - 1, IsCxx);
  static const bool IsShown = std::getenv("LINEMATE_FUZZ_SHOW");
  if (IsShown)
    llvm::errs() << Program << '\n';

  std::string File = std::string(Folder) + (IsCxx ? "/main.cc" : "/main.c");
  auto Memory = llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>();
  Memory->addFile(File, 0, llvm::MemoryBuffer::getMemBuffer(Program));
  auto Files = llvm::makeIntrusiveRefCnt<FileCache>(Memory);

  Command From{Folder, File, {IsCxx ? "clang++" : "clang", "-O2"}};
  ResponseFiles Expander(*Memory);
  Flags F = normalisedFlags(From, Expander);
  Prepared P = prepare(From, F);
  if (!P.Invocation)
    llvm::report_fatal_error("the driver takes none of its own flags");
  // Clang's own macros would take a third of a small program's time.
  P.Invocation->getPreprocessorOpts().UsePredefines = false;
  ErrorList Errors(From);
  Task T{&From, &F, Rows, *Files, Errors, {}};
  clang::CompilerInstance Compiler;
  setUp(Compiler, std::move(P.Invocation), *Files, Errors);
  FactsAction Action(T);
  Compiler.ExecuteAction(Action);
  UnitResult Result = resultOf(T, std::move(P.Dropped));
  if (IsShown)
    llvm::errs() << Result.Json << '\n' << Result.Failure << '\n';
  return 0;
}
