//===- Rounds.cpp - How often do the loops of a function go around? -------===//
//
// Owns what the source says of that by itself: loops that count up to a
// constant, and such that count up to something else.  How often a function is
// called is not looked at.
//
//===----------------------------------------------------------------------===//

#include "Rounds.h"

#include "clang/AST/ExprCXX.h"
#include "clang/AST/StmtCXX.h"

using namespace clang;

namespace linemate {

namespace {

constexpr unsigned MaxNested = 64; ///< statements below each other

class Rounds {
public:
  explicit Rounds(const ASTContext &Context) : Context(Context) {}

  /// Rounds of all loops in \p S, at least 1; 0 where one may go on and on.
  int64_t of(const Stmt *S, unsigned Depth = 0);
  bool IsKnown = true; ///< all loops count up to a constant

private:
  const ASTContext &Context;

  std::optional<int64_t> constant(const Expr *E) const;
  int64_t loop(int64_t Times, const Stmt *Body, unsigned Depth);
  int64_t counted(const ForStmt &F, unsigned Depth);
};

int64_t added(int64_t A, int64_t B) { return std::min(A + B, MostRounds); }

std::optional<int64_t> Rounds::constant(const Expr *E) const {
  Expr::EvalResult Result;
  if (!E || E->isValueDependent() || !E->EvaluateAsInt(Result, Context) ||
      Result.Val.getInt().getSignificantBits() > 48)
    return std::nullopt;
  return Result.Val.getInt().getExtValue();
}

int64_t Rounds::loop(int64_t Times, const Stmt *Body, unsigned Depth) {
  int64_t Inside = of(Body, Depth + 1);
  if (!Inside)
    return 0;
  Times = std::clamp<int64_t>(Times, 1, MostRounds);
  return Times > MostRounds / Inside ? MostRounds : Times * Inside;
}

const VarDecl *named(const Expr *E) {
  const auto *Ref = dyn_cast<DeclRefExpr>(E->IgnoreParenCasts());
  const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
  return V && V->hasLocalStorage() && V->getType()->isIntegerType() ? V
                                                                    : nullptr;
}

/// Is the variable changed in the statement, or its address taken?
bool changes(const Stmt *S, const VarDecl &V) {
  if (!S)
    return false;
  const Expr *Changed = nullptr;
  if (const auto *U = dyn_cast<UnaryOperator>(S);
      U && (U->isIncrementDecrementOp() || U->getOpcode() == UO_AddrOf))
    Changed = U->getSubExpr();
  if (const auto *B = dyn_cast<BinaryOperator>(S); B && B->isAssignmentOp())
    Changed = B->getLHS();
  if (Changed && named(Changed) == &V)
    return true;
  return llvm::any_of(S->children(),
                      [&](const Stmt *C) { return changes(C, V); });
}

/// "for (i = 0; i < n; ++i)", whose variable nothing else changes.
int64_t Rounds::counted(const ForStmt &F, unsigned Depth) {
  const auto *Asked =
      F.getCond() ? dyn_cast<BinaryOperator>(F.getCond()->IgnoreParenCasts())
                  : nullptr;
  const Stmt *Step = F.getInc() ? F.getInc()->IgnoreParenCasts() : nullptr;
  if (!Asked || !Step ||
      !(Asked->isRelationalOp() || Asked->getOpcode() == BO_NE))
    return 0;
  const VarDecl *V = named(Asked->getLHS());
  const auto *Once = dyn_cast<UnaryOperator>(Step);
  const auto *By = dyn_cast<CompoundAssignOperator>(Step);
  const VarDecl *Stepped =
      Once && Once->isIncrementOp()           ? named(Once->getSubExpr())
      : By && By->getOpcode() == BO_AddAssign ? named(By->getLHS())
                                              : nullptr;
  if (!V || V != Stepped)
    return 0;
  std::optional<int64_t> End = constant(Asked->getRHS());
  int64_t Begin = 0;
  if (const auto *D = dyn_cast_or_null<DeclStmt>(F.getInit());
      D && D->isSingleDecl())
    if (const auto *I = dyn_cast<VarDecl>(D->getSingleDecl());
        I && I->getInit())
      Begin = constant(I->getInit()).value_or(0);
  IsKnown &= End.has_value();
  // How deep it is nested is known before it is looked through.
  int64_t All = loop(End ? *End - Begin : 1, F.getBody(), Depth);
  return All && !changes(F.getBody(), *V) ? All : 0;
}

int64_t Rounds::of(const Stmt *S, unsigned Depth) {
  if (!S || isa<LambdaExpr>(S))
    return 1;
  if (Depth > MaxNested || isa<WhileStmt>(S) || isa<DoStmt>(S) ||
      isa<GotoStmt>(S) || isa<IndirectGotoStmt>(S))
    return 0;
  if (const auto *F = dyn_cast<ForStmt>(S))
    return counted(*F, Depth);
  if (const auto *F = dyn_cast<CXXForRangeStmt>(S)) {
    QualType Over = F->getRangeInit()->getType().getNonReferenceType();
    const auto *A = Context.getAsConstantArrayType(Over);
    IsKnown &= A != nullptr;
    return loop(A ? int64_t(A->getSize().getLimitedValue(MostRounds)) : 1,
                F->getBody(), Depth);
  }
  int64_t Sum = 1;
  for (const Stmt *Child : S->children()) {
    int64_t Inside = of(Child, Depth + 1);
    if (!Inside)
      return 0;
    Sum = added(Sum, Inside - 1);
  }
  return Sum;
}

} // namespace

int64_t roundsOf(const Stmt *Body, const ASTContext &Context) {
  Rounds All(Context);
  int64_t Found = Body ? All.of(Body) : 0;
  return Found && !All.IsKnown ? CountedRounds : Found;
}

} // namespace linemate
