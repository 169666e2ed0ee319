//===- FlagKinds.h - Which flags the parser is given --------------*- C++
//-*-===//
//
// Owns the list of what is allowed, by groups of Clang's own option table.  A
// command comes from a project that may be hostile, and a compiler's flags can
// run programs and write files: what is not known to be harmless is left out.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ANALYZER_FLAGKINDS_H
#define LINEMATE_ANALYZER_FLAGKINDS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Option/Arg.h"
#include "llvm/TargetParser/Triple.h"

#include <string>

namespace linemate {

enum class Fate {
  Passed,
  Silent, ///< left out; what is found does not depend on it
  Named,  ///< left out, which somebody should know
};

Fate fateOf(const llvm::opt::Arg &A);

/// Whether Clang reads source for \p Target without the tools of a vendor;
/// those for accelerators ask programs which device there is.
bool isProcessor(const llvm::Triple &Target);

/// "c", "c++" or "c++-module" for a language as after -x; "" for all others.
std::string parsedLanguage(llvm::StringRef Asked);

} // namespace linemate

#endif
