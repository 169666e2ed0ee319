//===- WordTests.h - Conditions that ask for a word -------------*- C++ -*-===//
//
// Owns which conditions ask what one variable of static storage has, and which
// statements change one.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ANALYZER_FUNCTION_WORDTESTS_H
#define LINEMATE_ANALYZER_FUNCTION_WORDTESTS_H

#include "Location.h"
#include "UnitBuilder.h"

#include "clang/Analysis/CFG.h"

namespace linemate {

/// What a loop found a word to be that it waited for: a number, or these
/// (TurnValue of elfscan/native/access/Tables.h).
constexpr uint16_t NotZero = 254, OtherValue = 255;

/// A condition that asks whether a word is a number below these, or is what
/// the function computed.
struct WordTest {
  int64_t Symbol = -1; ///< -1: it asks for something else
  int64_t Offset = 0;
  int64_t Size = 0;
  uint16_t Against = 0;
  bool EqualIfTrue = false;
};

/// \p Block is that which the condition ends, if it may ask for a word by way
/// of a local that was just set to it: "T *P = Made.load(); if (!P)".
WordTest wordTest(const clang::Expr *Condition, Locations &At,
                  UnitBuilder &Unit, const clang::CFGBlock *Block = nullptr);

/// What a statement changes, nothing where it is no plain or atomic store.
Location changedBy(const clang::Stmt *S, Locations &At,
                   const clang::ASTContext &Context);

} // namespace linemate

#endif
