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

#include <functional>
#include <string>
#include <vector>

namespace linemate {

struct UnitResult {
  std::string Json;                 ///< a UnitFacts line; "": see Failure
  std::string Failure;              ///< why there are no facts
  std::vector<std::string> Dropped; ///< flags that clang refused
  std::string Inputs; ///< what the facts depend on, for the cache; "" unknown
};

/// Reads units one after the other, with what they share kept warm.
class UnitReader {
public:
  /// \p Finished adds to each result in the process that made it.
  using Sink = std::function<void(UnitResult &, FileCache &)>;
  UnitReader(const Knowledge &Rows, std::string ResourceDirectory,
             Overlay Moved, Sink Finished);

  UnitResult read(const Command &From, const Flags &F);

  void finished(UnitResult &Result) {
    if (Finished)
      Finished(Result, *Files);
  }
  const Knowledge &rows() const { return Rows; }
  Invocations &invocations() { return Prepare; }
  FileCache &files() { return *Files; }

private:
  const Knowledge &Rows;
  llvm::IntrusiveRefCntPtr<FileCache> Files;
  Invocations Prepare;
  Sink Finished;
};

} // namespace linemate

#endif
