//===- Spelling.h - What a declaration looks like in its file -----*- C++
//-*-===//
//
// Owns source ranges as byte offsets, the text of attributes, and the names of
// the macros that produced an alignment.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ANALYZER_SPELLING_H
#define LINEMATE_ANALYZER_SPELLING_H

#include "UnitBuilder.h"

#include "clang/AST/Decl.h"

#include <string>
#include <vector>

namespace linemate {

/// Byte offsets in the file in which a declaration is expanded.
struct Extent {
  int64_t Begin = 0;
  int64_t End = 0;
};

/// From the first token of the declaration to behind its last, attributes on
/// either side included, the semicolon not.
Extent declarationExtent(UnitBuilder &Unit, const clang::DeclaratorDecl &D);

/// From `struct` to behind the closing brace.
Extent recordExtent(UnitBuilder &Unit, const clang::RecordDecl &R);

/// Bytes \p Range of the file with the declaration at \p At.
llvm::StringRef fileText(UnitBuilder &Unit, clang::SourceLocation At,
                         Extent Range, size_t Limit = 200);

struct Alignment {
  int64_t Bytes = 0; ///< what the attributes ask for, 0 none
  std::string Text;  ///< the attributes as written
  std::vector<std::string> Macros;
};

/// What the attributes of \p D itself ask for.
Alignment declaredAlignment(UnitBuilder &Unit, const clang::Decl &D);

/// Names of the macros whose expansion \p At lies in, innermost first.
void addMacros(UnitBuilder &Unit, clang::SourceLocation At,
               std::vector<std::string> &Out);

/// The lock of a guarded_by annotation as written, "" without one.
std::string guardedBy(UnitBuilder &Unit, const clang::Decl &D);

} // namespace linemate

#endif
