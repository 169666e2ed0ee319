//===- Collect.h - All functions of a unit to facts --------------*- C++
//-*-===//
//
// Owns which bodies of a unit are read, and in which order.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ANALYZER_FUNCTION_COLLECT_H
#define LINEMATE_ANALYZER_FUNCTION_COLLECT_H

#include "Facts.h"
#include "UnitBuilder.h"

#include <vector>

namespace linemate {

/// Every function whose body was parsed outside system headers: inline ones,
/// instances of templates, lambdas, constructors with their initialisers,
/// bodies of parallel regions, and the initialisers of globals.
std::vector<FunctionFacts>
collectFunctions(UnitBuilder &Unit, const clang::TranslationUnitDecl &Root);

} // namespace linemate

#endif
