//===- Counted.cpp - Numbers that are taken from a counter ----------------===//
//
// Owns which local numbers a function takes from a counter of others, as
// threads do that number themselves: by one operation that moves it on by one
// and tells what it was or is, outside of loops.
//
//===----------------------------------------------------------------------===//

#include "Atomics.h"
#include "IndexSteps.h"
#include "Location.h"

using namespace clang;

namespace linemate {

namespace {

constexpr unsigned MaxAround = 4; ///< operations on what was taken

/// What is left of a number that is kept within bounds, or moved by a constant.
const Expr *counterIn(const Expr *E, const ASTContext &Context) {
  E = E->IgnoreParenCasts();
  for (unsigned Steps = 0; Steps < MaxAround; ++Steps) {
    const auto *B = dyn_cast<BinaryOperator>(E);
    if (!B || B->isAssignmentOp() ||
        !(B->getOpcode() == BO_Rem || B->getOpcode() == BO_And ||
          (B->isAdditiveOp() && !B->isValueDependent() &&
           B->getRHS()->isEvaluatable(Context))))
      break;
    E = B->getLHS()->IgnoreParenCasts();
  }
  return E;
}

bool isByOne(const Expr *E, const ASTContext &Context) {
  return constantOf(E, Context) == 1;
}

/// Is it storage that other calls of the function have as well?
bool isOfOthers(const Expr *E) {
  E = E->IgnoreParenImpCasts();
  while (const auto *M = dyn_cast<MemberExpr>(E)) {
    if (M->isArrow())
      return true; // through `this` or a pointer
    E = M->getBase()->IgnoreParenImpCasts();
  }
  const auto *Ref = dyn_cast<DeclRefExpr>(E);
  const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
  return V && V->getTLSKind() == VarDecl::TLS_None &&
         (V->hasGlobalStorage() || V->getType()->isReferenceType() ||
          Ref->refersToEnclosingVariableOrCapture());
}

/// The same of what an argument leads to.
bool leadsToOthers(const Expr *Pointer) {
  const auto *At = dyn_cast<UnaryOperator>(Pointer->IgnoreParenCasts());
  return !At || At->getOpcode() != UO_AddrOf || isOfOthers(At->getSubExpr());
}

} // namespace

/// Does an expression count on a counter by one, and tell how far it is?
bool Locations::countsOn(const Expr *E) const {
  if (const auto *U = dyn_cast<UnaryOperator>(E))
    return U->isIncrementOp() && isOfOthers(U->getSubExpr());
  if (const auto *A = dyn_cast<AtomicExpr>(E)) {
    StringRef Name = A->getOpAsString();
    return (Name.contains("fetch_add") || Name.contains("add_fetch")) &&
           isByOne(A->getVal1(), Context) && leadsToOthers(A->getPtr());
  }
  const auto *Call = dyn_cast<CallExpr>(E);
  const FunctionDecl *F = Call ? Call->getDirectCallee() : nullptr;
  if (!F || !Call->getNumArgs())
    return false;
  if (const auto *Method = dyn_cast<CXXMethodDecl>(F)) {
    if (!isStdAtomic(Method->getParent()))
      return false;
    if (const auto *O = dyn_cast<CXXOperatorCallExpr>(Call))
      return O->getOperator() == OO_PlusPlus && isOfOthers(O->getArg(0));
    const auto *Of = dyn_cast<CXXMemberCallExpr>(Call);
    return Of && F->getIdentifier() && F->getName() == "fetch_add" &&
           isByOne(Call->getArg(0), Context) &&
           isOfOthers(Of->getImplicitObjectArgument());
  }
  StringRef Name = F->getIdentifier() ? F->getName() : StringRef();
  return (Name.starts_with("__sync_fetch_and_add") ||
          Name.starts_with("__sync_add_and_fetch")) &&
         Call->getNumArgs() > 1 && isByOne(Call->getArg(1), Context) &&
         leadsToOthers(Call->getArg(0));
}

/// Is all that a local number ever gets one of a counter, outside of loops, but
/// for what it begins as?  Of a counter that all threads count on each takes
/// another one.
bool Locations::isCounted(const LocalNumber &Number) const {
  if (Number.InLoop || Number.Counts)
    return false;
  bool Found = false;
  for (const Expr *Value : Number.Values) {
    bool Counts = countsOn(counterIn(Value, Context));
    if (!Counts &&
        (Value->isValueDependent() || !Value->isEvaluatable(Context)))
      return false;
    Found |= Counts;
  }
  return Found;
}

} // namespace linemate
