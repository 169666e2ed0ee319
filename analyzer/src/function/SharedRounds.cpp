//===- SharedRounds.cpp - Loops whose rounds threads share out ------------===//
//
// Owns which loops of OpenMP have as many rounds as threads that share them
// out: then the number of a round is as good as that of a thread.
//
//===----------------------------------------------------------------------===//

#include "IndexSteps.h"
#include "Scan.h"

#include "clang/AST/ASTContext.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;

namespace linemate {

namespace {

constexpr unsigned MaxNames = 4; ///< from variable to variable

/// The expression that a clause was given: what is evaluated in front of the
/// directive Clang keeps in a variable of its own.
const Expr *asWritten(const Expr *E) {
  E = E->IgnoreParenCasts();
  for (unsigned Steps = 0; Steps < MaxNames; ++Steps) {
    const auto *Ref = dyn_cast<DeclRefExpr>(E);
    const auto *Kept =
        Ref ? dyn_cast<OMPCapturedExprDecl>(Ref->getDecl()) : nullptr;
    if (!Kept || !Kept->getInit())
      break;
    E = Kept->getInit()->IgnoreParenCasts();
  }
  return E;
}

/// Do two expressions name one variable, or one constant?
bool isSameNumber(const Expr *A, const Expr *B, const ASTContext &Context) {
  A = asWritten(A);
  B = asWritten(B);
  const auto *First = dyn_cast<DeclRefExpr>(A);
  const auto *Second = dyn_cast<DeclRefExpr>(B);
  if (First && Second && First->getDecl() == Second->getDecl())
    return true;
  auto One = constantOf(A, Context);
  return One && One == constantOf(B, Context);
}

bool asksForThreads(const Expr *E) {
  const auto *Call = dyn_cast<CallExpr>(E->IgnoreParenCasts());
  const FunctionDecl *F = Call ? Call->getDirectCallee() : nullptr;
  return F && F->getIdentifier() &&
         llvm::StringSwitch<bool>(F->getName())
             .Cases("omp_get_max_threads", "omp_get_num_threads", true)
             .Default(false);
}

/// Is it how many threads a region has?
bool countsThreads(const Expr *Bound, const OMPExecutableDirective &Region,
                   const Scan &Around, const ASTContext &Context) {
  Bound = asWritten(Bound);
  if (const auto *Said = Region.getSingleClause<OMPNumThreadsClause>())
    return isSameNumber(Bound, Said->getNumThreads(), Context);
  for (const Expr *Set : Around.ThreadsSet)
    if (isSameNumber(Bound, Set, Context))
      return true;
  if (asksForThreads(Bound))
    return true;
  const auto *Ref = dyn_cast<DeclRefExpr>(Bound);
  const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
  auto Of = V ? Around.Numbers.find(V) : Around.Numbers.end();
  return Of != Around.Numbers.end() && Of->second.Values.size() == 1 &&
         !Of->second.Counts && asksForThreads(Of->second.Values.front());
}

/// Does each thread get one round, where there are as many as threads?
bool givesOneEach(const OMPLoopDirective &Loop, const ASTContext &Context) {
  if (Loop.getLoopsNumber() != 1)
    return false;
  const auto *How = Loop.getSingleClause<OMPScheduleClause>();
  const Expr *Chunk = How ? How->getChunkSize() : nullptr;
  return !Chunk || constantOf(asWritten(Chunk), Context) == 1;
}

/// The counter of a loop from zero up by one, and the number that ends it.
std::pair<const VarDecl *, const Expr *> countedLoop(const Stmt *S,
                                                     const ASTContext &C) {
  while (const auto *Captured = dyn_cast_or_null<CapturedStmt>(S))
    S = Captured->getCapturedStmt();
  const auto *For = dyn_cast_or_null<ForStmt>(S);
  const auto *Ends =
      For ? dyn_cast_or_null<BinaryOperator>(For->getCond()) : nullptr;
  const auto *Next =
      For ? dyn_cast_or_null<UnaryOperator>(For->getInc()) : nullptr;
  const auto *Ref =
      Ends ? dyn_cast<DeclRefExpr>(Ends->getLHS()->IgnoreParenImpCasts())
           : nullptr;
  const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
  if (!V || !Next || !Next->isIncrementOp() ||
      (Ends->getOpcode() != BO_LT && Ends->getOpcode() != BO_NE))
    return {};
  const Expr *First = nullptr;
  if (const auto *Set = dyn_cast_or_null<BinaryOperator>(For->getInit()))
    First = Set->getOpcode() == BO_Assign ? Set->getRHS() : nullptr;
  else if (isa_and_nonnull<DeclStmt>(For->getInit()))
    First = V->getInit();
  if (!First || constantOf(First, C) != 0)
    return {};
  return {V, Ends->getRHS()};
}

} // namespace

void Scan::shareRounds(const OMPExecutableDirective &D,
                       const OMPExecutableDirective &Region,
                       const Scan &Outside) {
  const auto *Loop = dyn_cast<OMPLoopDirective>(&D);
  if (!Loop || !Loop->hasAssociatedStmt() ||
      !isOpenMPWorksharingDirective(Loop->getDirectiveKind()))
    return;
  auto [Counter, Bound] =
      countedLoop(Loop->getRawStmt(), Around->getASTContext());
  if (Counter && givesOneEach(*Loop, Around->getASTContext()) &&
      countsThreads(Bound, Region, Outside, Around->getASTContext()))
    Rounds.insert(Counter);
}

} // namespace linemate
