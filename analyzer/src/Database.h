//===- Database.h - Which commands compile which files ------------*- C++
//-*-===//
//
// Owns reading compile_commands.json and the splitting of command strings.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ANALYZER_DATABASE_H
#define LINEMATE_ANALYZER_DATABASE_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace linemate {

struct Command {
  std::string Directory;              ///< absolute
  std::string File;                   ///< absolute, without dots
  std::vector<std::string> Arguments; ///< the compiler is the first
};

/// As a POSIX shell splits words; no expansion of any kind.
std::vector<std::string> splitCommand(llvm::StringRef Line);

/// \p Path absolute against \p Directory and without dots.
std::string absolutePath(llvm::StringRef Path, llvm::StringRef Directory);

/// Reads a compile database: \p Path is the file or its folder.  Equal
/// entries count once.
llvm::Expected<std::vector<Command>> readDatabase(llvm::StringRef Path);

} // namespace linemate

#endif
