//===- Chance.h - What a condition says of its branch ------------*- C++
//-*-===//
//
// Owns the guesses that need the source: attributes, __builtin_expect, null
// tests and error returns.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ANALYZER_FUNCTION_CHANCE_H
#define LINEMATE_ANALYZER_FUNCTION_CHANCE_H

#include "clang/AST/ASTContext.h"
#include "clang/Analysis/CFG.h"

namespace linemate {

/// Of the way that the programmer marks as unlikely (as gcc takes it:
/// builtin-expect-probability is 90 percent).
inline constexpr float UnlikelyChance = 0.1F;

/// Of a way that is taken once, as sharing/basics/numbers.py has it (SELDOM).
inline constexpr float FirstTimeChance = 0x1p-10F;

/// The chance that a block with two ways takes the first: its condition holds.
float chanceOfTrue(const clang::CFGBlock &B, const clang::ASTContext &Context);

/// Is it written as zero: 0, NULL, false, an enumerator of that value?
bool isZero(const clang::Expr *E);

} // namespace linemate

#endif
