//===- Chance.h - What a condition says of its branch ------------*- C++
//-*-===//
//
// Owns the guesses that need the source: attributes, __builtin_expect, null
// tests and error returns.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ANALYZER_FUNCTION_CHANCE_H
#define LINEMATE_ANALYZER_FUNCTION_CHANCE_H

#include "Failures.h"

#include "clang/AST/ASTContext.h"
#include "clang/Analysis/CFG.h"
#include "llvm/ADT/DenseMap.h"

namespace linemate {

/// Of the way that the programmer marks as unlikely (as gcc takes it:
/// builtin-expect-probability is 90 percent).
inline constexpr float UnlikelyChance = 0.1F;

/// Of what was just found to be below zero: the opcode heuristic (84%).
inline constexpr float IsNegative = 0.16F;

/// Of a way that is taken once, as sharing/basics/numbers.py has it (SELDOM).
inline constexpr float FirstTimeChance = 0x1p-10F;
inline constexpr int FirstTimeSteps = 40; ///< the same in steps of rarity

/// Of a way that is taken where a call has failed: there is memory, and whoever
/// waits for milliseconds does so few times a second.  Many such ways lead to
/// one place, which is as seldom come to as that.  HasFailed of elfscan's
/// Failures.h is the same.
inline constexpr float FailedChance = 0x1p-14F;

/// Operands of && and || whose value the programmer says, by what it is.
using Expectations = llvm::DenseMap<const clang::Expr *, bool>;

/// By variable of thread-local storage the statements that change it.
using OwnChanges = llvm::DenseMap<const clang::ValueDecl *, unsigned>;

/// What the statements of a function say of its conditions.
struct SaidElsewhere {
  /// What "unlikely(a && b)" says of each of the two: what the whole is
  /// expected to be, as gcc takes it (fold_builtin_expect).
  Expectations Expected;
  OwnChanges Changes;
  Failures Failed;

  SaidElsewhere(const clang::CFG &Graph, const clang::ASTContext &Context);
};

/// The chance that a block with two ways takes the first: its condition holds.
float chanceOfTrue(const clang::CFGBlock &B, const clang::ASTContext &Context,
                   const SaidElsewhere &Said);

/// May the branch at the end of a block be an "if" that asks whether something
/// failed?  Not "n <= 0": so ends what reads to the end, failed or not.
bool mayAskOfFailure(const clang::CFGBlock &B);

/// Is it written as zero: 0, NULL, false, an enumerator of that value?
bool isZero(const clang::Expr *E);

} // namespace linemate

#endif
