//===- ClockTimes.h - What clocks say, in source ----------------*- C++ -*-===//
//
// Owns which expressions are what a clock says, and in which unit.  Which
// functions tell the time sharing/model/clocktimes.py has for binaries.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ANALYZER_FUNCTION_CLOCKTIMES_H
#define LINEMATE_ANALYZER_FUNCTION_CLOCKTIMES_H

#include "clang/AST/ASTContext.h"
#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace linemate {

/// An expression without what converts or copies it.
const clang::Expr *bare(const clang::Expr *E);

/// The variable or member that it names, or the address of one, or null.
const clang::ValueDecl *wordOf(const clang::Expr *E);

llvm::StringRef calledName(const clang::CallExpr &Call);

/// "a - b" of numbers, and of times and durations of std::chrono.
struct TwoSides {
  const clang::Expr *Left = nullptr, *Right = nullptr;
  clang::BinaryOperatorKind Kind = clang::BO_Comma;
};

/// Left is null where it has not two sides.
TwoSides sidesOf(const clang::Expr *E);

/// What an atomic operation is called, and the word.
llvm::StringRef methodOn(const clang::Expr *E, const clang::ValueDecl *&Of);

/// Parts of a second of what std::chrono::duration counts, or 0.
double perSecondOf(clang::QualType Type);

/// What a function gives its variables.
class Givens {
public:
  struct Of {
    llvm::SmallVector<const clang::Expr *, 2> Values;
    double Filled = 0;    ///< by a clock: parts of a second behind the seconds
    bool Stepped = false; ///< moved on by what is not the value of a clock
  };

  /// Notes what a statement gives.
  void see(const clang::Stmt &S);
  const Of *find(const clang::ValueDecl *V) const;

private:
  llvm::DenseMap<const clang::ValueDecl *, Of> All;
};

/// What a clock says: one is a part of a second, and what differs least.
struct Clock {
  double PerSecond = 1;
  double Finest = 1;
};

/// What expressions say of time.
class ClockTimes {
public:
  explicit ClockTimes(const clang::ASTContext &Context) : Context(Context) {}

  /// May a statement ask a clock?
  static bool asks(const clang::Stmt &S);
  /// A number that is known, as of the unit of what it stands beside.
  std::optional<double> number(const clang::Expr *E) const;
  /// What a clock says that an expression asks; \p In: of its function.
  std::optional<Clock> clock(const clang::Expr *E, const Givens &In,
                             unsigned Depth) const;

private:
  const clang::ASTContext &Context;

  std::optional<Clock> called(const clang::CallExpr &Call, const Givens &In,
                              unsigned Depth) const;
  std::optional<Clock> returned(const clang::FunctionDecl &F,
                                unsigned Depth) const;
};

} // namespace linemate

#endif
