//===- Rounds.h - Conditions that ask which round it is ---------*- C++ -*-===//
//
// Owns how seldom a condition holds that divides, masks or compares a number
// which moves on by steps: the same that elfscan/native/access/Rounds.cpp reads
// from machine code.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ANALYZER_FUNCTION_ROUNDS_H
#define LINEMATE_ANALYZER_FUNCTION_ROUNDS_H

#include "clang/AST/ASTContext.h"
#include "clang/Analysis/CFG.h"
#include "llvm/ADT/SmallPtrSet.h"

#include <cstdint>
#include <optional>

namespace linemate {

/// The variable or member that an expression names, or null.
const clang::ValueDecl *declared(const clang::Expr *E);

/// Rounds of a loop of which nothing is known (LOOP_FACTOR of sharing), and
/// from which number of known ones on that is far off.
inline constexpr float UnknownRounds = 10;
inline constexpr float SeldomInner = 1.0F / 1000;
/// Of a loop that every round of the one around it runs: not only where a test,
/// which is taken for likely (88%), leads to it.
inline constexpr float SurelyRun = 0.9F;

class Rounds {
public:
  Rounds(const clang::CFG &Graph, const clang::ASTContext &Context);

  /// The chance that a block with two ways takes the first, where that is once
  /// in so many rounds, or always but then.
  std::optional<float> chanceOfFirst(const clang::CFGBlock &B) const;
  /// The chance that a loop's own test leaves it.
  std::optional<float> chanceOfLeaving(const clang::CFGBlock &B) const;

private:
  const clang::ASTContext &Context;
  llvm::SmallPtrSet<const clang::ValueDecl *, 8> Stepped;
  /// Local variables that anything but where they are declared sets.
  llvm::SmallPtrSet<const clang::ValueDecl *, 8> Changed;
  bool Counts = false; ///< anything moves on by steps

  void note(const clang::Stmt &S);
  const clang::Expr *valueOf(const clang::Expr *E) const;
  std::optional<uint64_t> constant(const clang::Expr *E) const;
  const clang::ValueDecl *counterOf(const clang::Expr *E) const;
  bool isCounted(const clang::Expr *E) const;
  std::optional<uint64_t> numbersOf(const clang::Expr *E) const;
  std::optional<float> equal(const clang::BinaryOperator &B,
                             const clang::CFGBlock *Way) const;
  std::optional<float> holds(const clang::Expr *E, const clang::CFGBlock *Then,
                             const clang::CFGBlock *Else) const;
};

} // namespace linemate

#endif
