//===- Flags.h - From a compiler's command line to clang's own ----*- C++
//-*-===//
//
// Owns what is dropped from a command, what of it decides layout, and the
// CompilerInvocation, made once for each set of flags.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ANALYZER_FLAGS_H
#define LINEMATE_ANALYZER_FLAGS_H

#include "Database.h"
#include "Facts.h"
#include "FileCache.h"
#include "ResponseFiles.h"

#include "clang/Frontend/CompilerInvocation.h"
#include "llvm/ADT/IntrusiveRefCntPtr.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/VirtualFileSystem.h"

#include <memory>
#include <string>
#include <vector>

namespace linemate {

/// A command without what says nothing about the meaning of the source: the
/// file, outputs, dependency files; response files are expanded.
struct Flags {
  std::vector<std::string> Arguments; ///< the compiler is the first
  UnitOptions Options;
  std::string Language; ///< as after -x: "c", "c++", ...; "" neither
  std::vector<std::string> Dropped; ///< flags that the parser is not given
  std::string Problem; ///< why the flags are not known; "" they are
};

struct Prepared {
  std::shared_ptr<clang::CompilerInvocation> Invocation; ///< null: see Problem
  std::vector<std::string> Dropped; ///< flags that clang refused
  std::string Problem;
};

/// Flags of \p From that count for its file.
Flags normalisedFlags(const Command &From, ResponseFiles &Expander);

class Invocations {
public:
  explicit Invocations(llvm::IntrusiveRefCntPtr<FileCache> FileSystem,
                       std::string ResourceDirectory);

  /// The invocation for \p From's file; its own copy each time.
  Prepared prepare(const Command &From, const Flags &F);

private:
  Prepared make(const Command &From, std::vector<std::string> Arguments,
                llvm::StringRef Language);

  llvm::IntrusiveRefCntPtr<FileCache> FileSystem;
  std::string ResourceDirectory;
  llvm::StringMap<Prepared> Known;
};

} // namespace linemate

#endif
