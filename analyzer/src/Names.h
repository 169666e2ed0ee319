//===- Names.h - Which symbols code names, and in which order ----*- C++
//-*-===//
//
// Owns the order in which compilers come across variables and functions when
// they generate code: it decides where they put them.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ANALYZER_NAMES_H
#define LINEMATE_ANALYZER_NAMES_H

#include "Facts.h"
#include "UnitBuilder.h"

#include "clang/AST/Decl.h"

namespace linemate {

/// Variables with static storage and functions that the body names, each once,
/// in the order of evaluation; statics of its own where they are declared, too.
Rows namedByFunction(UnitBuilder &Unit, const clang::FunctionDecl &F);

/// The same of the variable's initialiser.
Rows namedByInitialiser(UnitBuilder &Unit, const clang::VarDecl &D);

} // namespace linemate

#endif
