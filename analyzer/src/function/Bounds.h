//===- Bounds.h - Which way of a branch is out of an array ------*- C++ -*-===//
//
// Owns checks of a number that also chooses an element of an array of so many,
// and of a length against the size of an array: what is out of bounds is an
// error, or at least not the usual.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ANALYZER_FUNCTION_BOUNDS_H
#define LINEMATE_ANALYZER_FUNCTION_BOUNDS_H

#include "clang/AST/ASTContext.h"
#include "clang/Analysis/CFG.h"

#include <optional>
#include <vector>

namespace linemate {

class Bounds {
public:
  Bounds(const clang::CFG &Graph, const clang::ASTContext &Context);

  /// The chance of the first of two ways where one of them is out of bounds, or
  /// leads to where such a way leads: what else leads there is an error too.
  std::optional<float> chanceOfFirst(const clang::CFGBlock &B) const;

private:
  /// By block: does a check of bounds lead there, and nothing but the branches
  /// of checks?  What also goes on there is what follows, in bounds or not.
  std::vector<bool> Out;
};

} // namespace linemate

#endif
