//===- Options.h - The command line of linemate-facts -------------*- C++
//-*-===//
//
// Owns its syntax and defaults.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ANALYZER_OPTIONS_H
#define LINEMATE_ANALYZER_OPTIONS_H

#include "Overlay.h"
#include "Workers.h"

#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace linemate {

struct Options {
  std::string Database; ///< -p; "" with Flags or none
  std::vector<std::string> Sources;
  std::vector<std::string> Flags; ///< behind --
  bool HasFlags = false;
  std::string Knowledge; ///< folder of the tables
  std::string ProjectRows;
  std::string Cache; ///< folder, "" none
  uint64_t CacheBytes = 1ULL << 30;
  std::string ResourceDirectory; ///< of clang's own headers, "" the default
  Overlay Moved;
  WorkerLimits Limits;
  bool Progress = false;
  bool SharePrefixes = true;
};

llvm::Expected<Options> readOptions(int Argc, char **Argv);

} // namespace linemate

#endif
