//===- IndexSteps.h - What an index counts -----------------------*- C++
//-*-===//
//
// Owns constants and linear steps of an index.  Where the rest of it comes from
// is OwnIndex.cpp's.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ANALYZER_FUNCTION_INDEXSTEPS_H
#define LINEMATE_ANALYZER_FUNCTION_INDEXSTEPS_H

#include "clang/AST/ASTContext.h"
#include "clang/AST/Expr.h"

#include <cstdint>
#include <optional>

namespace linemate {

/// Expressions that nest deeper are given up: hostile, or not worth it.
constexpr unsigned MaxLocationDepth = 128;

/// What an index that is not constant counts: it is Factor * x + Sum.
struct Steps {
  int64_t Factor = 1;
  int64_t Sum = 0;
};

/// Constants that are worth evaluating as an index.
std::optional<int64_t> constantOf(const clang::Expr *E,
                                  const clang::ASTContext &Context);

Steps stepsOf(const clang::Expr *Index, const clang::ASTContext &Context,
              unsigned Depth = 0);

} // namespace linemate

#endif
