//===- Fixed.h - Variables that keep their first value -----------*- C++
//-*-===//
//
// Owns which variables of a unit nothing ever changes, and what a condition on
// them comes to.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ANALYZER_FUNCTION_FIXED_H
#define LINEMATE_ANALYZER_FUNCTION_FIXED_H

#include "clang/AST/ASTContext.h"
#include "clang/AST/Decl.h"
#include "llvm/ADT/DenseMap.h"

#include <cstdint>
#include <optional>

namespace linemate {

/// Values of integers by the canonical declaration.
using FixedValues = llvm::DenseMap<const clang::Decl *, int64_t>;

/// Integers with static storage that are const, or that no other unit can name
/// and this one only where their value is loaded.
FixedValues fixedValues(clang::ASTContext &Context);

/// Whether a condition holds, where fixed values and numbers decide that.
std::optional<bool> decided(const clang::Expr *Condition,
                            const FixedValues &Values);

} // namespace linemate

#endif
