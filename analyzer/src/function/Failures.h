//===- Failures.h - Which way a failed call leads to -------------*- C++
//-*-===//
//
// Owns what a condition says of a known function that was called: that it
// failed, or that time ran out while it waited.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ANALYZER_FUNCTION_FAILURES_H
#define LINEMATE_ANALYZER_FUNCTION_FAILURES_H

#include "clang/AST/ASTContext.h"
#include "clang/Analysis/CFG.h"
#include "llvm/ADT/DenseMap.h"

namespace linemate {

/// How what a function returns says that it failed.
enum class Fails : uint8_t {
  Never, ///< or in ways that are not known
  OnNull,
  OnNegative,
  OnNonzero,
  OnTimeout, ///< zero: time ran out
  OnStatus,  ///< std::cv_status::timeout
};

/// Of one function.
class Failures {
public:
  explicit Failures(const clang::ASTContext &Context) : Context(Context) {}

  /// Notes what a statement gives to a local variable.
  void see(const clang::Stmt &S);

  /// Does the branch at the end of a block ask whether a call failed?  Then
  /// whether its condition holds if it did.
  std::optional<bool> ifTrue(const clang::CFGBlock &B) const;

private:
  /// What all calls say whose results a variable gets, and whether it is zero
  /// until then, or gets anything else.
  struct Given {
    Fails How = Fails::Never;
    bool Zero = false;
    bool Other = false;
  };
  const clang::ASTContext &Context;
  llvm::DenseMap<const clang::ValueDecl *, Given> Values;

  void give(const clang::ValueDecl *To, const clang::Expr *Value);
  std::optional<int64_t> number(const clang::Expr *E) const;
  Fails ofCall(const clang::CallExpr &Call) const;
  const clang::Expr *lastValue(const clang::Expr *E,
                               const clang::CFGBlock &B) const;
  bool isWhatWasGiven(const clang::Expr *Asked, const clang::Expr *Whole,
                      const clang::CFGBlock &B) const;
  Fails ofValue(const clang::Expr *E) const;
  Fails howFails(const clang::Expr *E, const clang::CFGBlock &B) const;
  std::optional<bool> holds(const clang::Expr *E, const clang::CFGBlock &B,
                            unsigned Depth) const;
};

} // namespace linemate

#endif
