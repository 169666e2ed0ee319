//===- Rounds.h - How often do the loops of a function go around? -*- C++
//-*-===//
//
// Owns the number of rounds that source states.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ANALYZER_FUNCTION_ROUNDS_H
#define LINEMATE_ANALYZER_FUNCTION_ROUNDS_H

#include "clang/AST/ASTContext.h"

namespace linemate {

/// More are not counted.
constexpr int64_t MostRounds = int64_t(1) << 30;
/// All loops count up, one of them to something that is no constant.
constexpr int64_t CountedRounds = -1;

/// At most so many rounds of all loops of a body, 1 without a loop; 0 where a
/// loop may go on and on, CountedRounds where its end is not known.
int64_t roundsOf(const clang::Stmt *Body, const clang::ASTContext &Context);

} // namespace linemate

#endif
