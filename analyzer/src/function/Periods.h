//===- Periods.h - Conditions that ask what time it is ----------*- C++ -*-===//
//
// Owns which way of a condition is taken only as a clock has moved on by a
// millisecond and more since it was taken last: the same that
// elfscan/native/access/Periods.cpp reads from machine code.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ANALYZER_FUNCTION_PERIODS_H
#define LINEMATE_ANALYZER_FUNCTION_PERIODS_H

#include "ClockTimes.h"

#include "clang/Analysis/CFG.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace linemate {

/// Of one function.
class Periods {
public:
  Periods(const clang::CFG &Graph, const clang::ASTContext &Context);

  /// Is the first of a block's two ways taken once in a period, or the second?
  std::optional<bool> firstIsSeldom(const clang::CFGBlock &B) const;

private:
  /// A sum of at most one clock's number, others, and a constant.
  struct Sum {
    std::optional<Clock> Told;
    int Sign = 1; ///< of what the clock says
    llvm::SmallVector<const clang::ValueDecl *, 2> Others;
    double Number = 0;
    double Seconds = 0; ///< of numbers that have a unit
    bool Known = true;  ///< are there no others?
  };
  ClockTimes Times;
  Givens Here;
  bool AnyClock = false;

  Sum sum(const clang::Expr *E, int Sign, unsigned Depth) const;
  static void add(Sum &To, const Sum &What);
  const clang::ValueDecl *older(const clang::Expr *E) const;
  double keeps(const clang::Stmt &S, const Sum &Asked) const;
  bool
  keepsOnAllWays(const clang::CFGBlock &B, const clang::CFGBlock &Other,
                 bool Changed, const Sum &Asked, double &Seconds,
                 llvm::SmallVectorImpl<const clang::CFGBlock *> &Seen) const;
};

} // namespace linemate

#endif
