//===- Main.cpp - linemate-facts: C and C++ source to facts ---------------===//
//
// Owns the command line and the stream: a header, one line for each unit or
// failure in the order of the compile database, notes, and an end line.
//
//===----------------------------------------------------------------------===//

#include "Database.h"
#include "Flags.h"
#include "Json.h"
#include "Knowledge.h"
#include "Options.h"
#include "Stream.h"
#include "Workers.h"

#include "llvm/Support/raw_ostream.h"

using namespace linemate;

int main(int Argc, char **Argv) {
  llvm::Expected<Options> Asked = readOptions(Argc, Argv);
  if (!Asked) {
    llvm::errs() << "linemate-facts: " << toString(Asked.takeError()) << '\n';
    return 2;
  }
  llvm::Error Problem = streamFacts(*Asked);
  if (Problem) {
    llvm::errs() << "linemate-facts: " << toString(std::move(Problem)) << '\n';
    return 2;
  }
  return 0;
}
