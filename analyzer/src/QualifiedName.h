//===- QualifiedName.h - Names of C++ as rows state them ----------*- C++
//-*-===//
//
// Owns the spelling: scopes joined by `::`, no template arguments, no inline
// namespaces; a constructor is called like its class, a destructor `~` and
// that.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ANALYZER_QUALIFIEDNAME_H
#define LINEMATE_ANALYZER_QUALIFIEDNAME_H

#include "clang/AST/Decl.h"

#include <string>

namespace linemate {

/// "" for what has no such name: operators, what is in a function.
std::string qualifiedName(const clang::NamedDecl &D);

} // namespace linemate

#endif
