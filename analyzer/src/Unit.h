//===- Unit.h - One translation unit to facts ---------------------*- C++
//-*-===//
//
// Owns parsing a unit and putting its facts together.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ANALYZER_UNIT_H
#define LINEMATE_ANALYZER_UNIT_H

#include "Database.h"
#include "FileCache.h"
#include "Flags.h"
#include "Knowledge.h"

#include <string>
#include <vector>

namespace linemate {

struct UnitResult {
  std::string Json;                 ///< a UnitFacts line; "": see Failure
  std::string Failure;              ///< why there are no facts
  std::vector<std::string> Dropped; ///< flags that clang refused
};

/// Reads units one after the other, with what they share kept warm.
class UnitReader {
public:
  UnitReader(const Knowledge &Rows, std::string ResourceDirectory);

  UnitResult read(const Command &From, const Flags &F);

  /// Of the last unit.
  FileCache &files() { return *Files; }

private:
  const Knowledge &Rows;
  llvm::IntrusiveRefCntPtr<FileCache> Files;
  Invocations Prepare;
};

} // namespace linemate

#endif
