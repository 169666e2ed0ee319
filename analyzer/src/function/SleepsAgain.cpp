//===- SleepsAgain.cpp - Loops that only sleep again ----------------------===//
//
// Owns what such a loop may say.
//
//===----------------------------------------------------------------------===//

#include "SleepsAgain.h"

#include "clang/AST/Decl.h"
#include "clang/AST/Expr.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/Stmt.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;

namespace linemate {

namespace {

constexpr size_t MostBlocks = 8;
constexpr unsigned MaxDepth = 32; // of expressions

/// The same as SLEEPERS of elfscan/code/accessscan.py.
bool isSleep(StringRef Name) {
  return Name == "nanosleep" || Name == "clock_nanosleep" ||
         Name == "thrd_sleep";
}

/// What errno is, a macro, in the C libraries of Linux and of the BSDs.
bool tellsOfError(StringRef Name) {
  return llvm::StringSwitch<bool>(Name)
      .Cases("__errno_location", "__error", "__errno", true)
      .Default(false);
}

StringRef nameOf(const CallExpr &C) {
  const FunctionDecl *F = C.getDirectCallee();
  return F && F->getIdentifier() ? F->getName() : StringRef();
}

bool isLocal(const Expr *E) {
  const auto *Ref = dyn_cast<DeclRefExpr>(E->IgnoreParenImpCasts());
  const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
  return V && V->hasLocalStorage() && !V->getType()->isReferenceType();
}

bool isAllowed(const Stmt &S) {
  if (const auto *C = dyn_cast<CallExpr>(&S))
    return isSleep(nameOf(*C)) || tellsOfError(nameOf(*C));
  if (const auto *Ref = dyn_cast<DeclRefExpr>(&S))
    return isLocal(Ref) || !isa<VarDecl>(Ref->getDecl());
  if (const auto *B = dyn_cast<BinaryOperator>(&S))
    return !B->isAssignmentOp() || isLocal(B->getLHS());
  if (const auto *U = dyn_cast<UnaryOperator>(&S)) {
    const auto *Behind = dyn_cast<CallExpr>(U->getSubExpr()->IgnoreParens());
    return U->getOpcode() == UO_Deref ? Behind != nullptr
                                      : !U->isIncrementDecrementOp();
  }
  if (const auto *M = dyn_cast<MemberExpr>(&S))
    return !M->isArrow();
  return isa<ImplicitCastExpr, ParenExpr, ExplicitCastExpr, IntegerLiteral,
             CXXBoolLiteralExpr, CXXNullPtrLiteralExpr, DeclStmt, NullStmt>(S);
}

bool onlySleeps(const Stmt &S, bool &Sleeps, unsigned Depth = 0) {
  if (Depth > MaxDepth || !isAllowed(S))
    return false;
  if (const auto *C = dyn_cast<CallExpr>(&S))
    Sleeps |= isSleep(nameOf(*C));
  return llvm::all_of(S.children(), [&](const Stmt *Part) {
    return !Part || onlySleeps(*Part, Sleeps, Depth + 1);
  });
}

} // namespace

bool sleepsAgain(const std::vector<unsigned> &Body,
                 const std::vector<const CFGBlock *> &ById) {
  if (Body.size() > MostBlocks)
    return false;
  bool Sleeps = false;
  for (unsigned Id : Body)
    for (const CFGElement &E : *ById[Id]) {
      if (auto Part = E.getAs<CFGStmt>()) {
        if (!onlySleeps(*Part->getStmt(), Sleeps))
          return false;
      } else if (!E.getAs<CFGLifetimeEnds>() && !E.getAs<CFGScopeBegin>() &&
                 !E.getAs<CFGScopeEnd>() && !E.getAs<CFGLoopExit>()) {
        return false;
      }
    }
  return Sleeps;
}

} // namespace linemate
