//===- Periods.cpp - Conditions that ask what time it is ------------------===//
//
// Owns the forms in which programs ask it: "now != last", "now - last >= 5",
// "now > next", where the way that is taken then sets the older number by what
// the clock said.
//
//===----------------------------------------------------------------------===//

#include "Periods.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>

using namespace clang;

namespace linemate {

namespace {

/// Of which a period has one at least; what is asked for is that it be more.
constexpr double LeastSeconds = 0.00099;
/// Expressions within each other.
constexpr unsigned MaxTerms = 12;
constexpr size_t MaxWayBlocks = 12;

/// Does a statement change anything, or call what may?
bool changesAny(const Stmt &S) {
  if (const auto *B = dyn_cast<BinaryOperator>(&S))
    return B->isAssignmentOp();
  if (const auto *U = dyn_cast<UnaryOperator>(&S))
    return U->isIncrementDecrementOp();
  if (const auto *E = dyn_cast<Expr>(&S)) {
    const ValueDecl *Of = nullptr;
    if (methodOn(E, Of) == "load")
      return false;
  }
  return isa<CallExpr>(S) || isa<AtomicExpr>(S);
}

} // namespace

Periods::Periods(const CFG &Graph, const ASTContext &Context) : Times(Context) {
  for (const CFGBlock *B : Graph)
    for (const CFGElement &E : *B)
      if (auto S = E.getAs<CFGStmt>())
        AnyClock |= ClockTimes::asks(*S->getStmt());
  if (!AnyClock)
    return;
  for (const CFGBlock *B : Graph)
    for (const CFGElement &E : *B)
      if (auto S = E.getAs<CFGStmt>())
        Here.see(*S->getStmt());
}

/// The place of an older number: of a local that was loaded from it as well.
const ValueDecl *Periods::older(const Expr *E) const {
  E = bare(E);
  const ValueDecl *Of = nullptr;
  if (methodOn(E, Of) == "load")
    return Of;
  if (const auto *Atomic = dyn_cast<AtomicExpr>(E))
    return wordOf(Atomic->getPtr());
  const ValueDecl *V = wordOf(E);
  const auto *Local = dyn_cast_or_null<VarDecl>(V);
  const Givens::Of *Given =
      Local && Local->hasLocalStorage() ? Here.find(V) : nullptr;
  if (Given && Given->Values.size() == 1 && !Given->Stepped) {
    const Expr *Value = bare(Given->Values[0]);
    if (methodOn(Value, Of) == "load")
      return Of;
    if (const auto *Atomic = dyn_cast<AtomicExpr>(Value))
      return wordOf(Atomic->getPtr());
    if (isa<MemberExpr>(Value) || isa<DeclRefExpr>(Value))
      return wordOf(Value);
  }
  return V;
}

void Periods::add(Sum &To, const Sum &What) {
  if (What.Told) {
    // One of the two is the older one, which a clock told as well.
    To.Known &= !To.Told || (To.Sign != What.Sign &&
                             !(To.Others.empty() && What.Others.empty()));
    To.Told = What.Told;
    To.Sign = What.Sign;
  }
  To.Others.append(What.Others.begin(), What.Others.end());
  To.Number += What.Number;
  To.Seconds += What.Seconds;
  To.Known &= What.Known;
}

Periods::Sum Periods::sum(const Expr *E, int Sign, unsigned Depth) const {
  Sum Of;
  E = bare(E);
  if (auto Told = Times.clock(E, Here, 0)) {
    Of.Told = Told;
    Of.Sign = Sign;
    const auto *Ref = dyn_cast<DeclRefExpr>(E);
    const Givens::Of *Given = Ref ? Here.find(Ref->getDecl()) : nullptr;
    if (Given && Given->Values.size() > 1)
      Of.Others.push_back(Ref->getDecl());
    return Of;
  }
  if (auto N = Times.number(E)) {
    double PerSecond = perSecondOf(E->getType());
    (PerSecond ? Of.Seconds : Of.Number) =
        Sign * (PerSecond ? *N / PerSecond : *N);
    return Of;
  }
  TwoSides O = sidesOf(E);
  if (O.Left && (O.Kind == BO_Add || O.Kind == BO_Sub) && Depth < MaxTerms) {
    add(Of, sum(O.Left, Sign, Depth + 1));
    add(Of, sum(O.Right, O.Kind == BO_Sub ? -Sign : Sign, Depth + 1));
    return Of;
  }
  if (const auto *Call = dyn_cast<CallExpr>(E);
      Call && calledName(*Call) == "difftime" && Call->getNumArgs() == 2) {
    add(Of, sum(Call->getArg(0), Sign, Depth + 1));
    add(Of, sum(Call->getArg(1), -Sign, Depth + 1));
    return Of;
  }
  if (const auto *Call = dyn_cast<CallExpr>(E);
      Call && calledName(*Call) == "duration_cast" && Call->getNumArgs() == 1)
    return sum(Call->getArg(0), Sign, Depth + 1);
  const auto *Count = dyn_cast<CXXMemberCallExpr>(E);
  if (Count && calledName(*Count) == "count" && Depth < MaxTerms) {
    const Expr *Object = Count->getImplicitObjectArgument();
    double PerSecond = perSecondOf(Object->getType());
    Of = sum(Object, Sign, Depth + 1);
    if (Of.Told && PerSecond) {
      bool IsWhole = E->getType()->isIntegerType();
      Of.Told->PerSecond = PerSecond;
      Of.Told->Finest =
          IsWhole ? std::min(PerSecond, Of.Told->Finest) : Of.Told->Finest;
    }
    return Of;
  }
  if (const auto *Ref = dyn_cast<DeclRefExpr>(E)) {
    const auto *Local = dyn_cast<VarDecl>(Ref->getDecl());
    const Givens::Of *Given =
        Local && Local->hasLocalStorage() ? Here.find(Local) : nullptr;
    if (Given && Given->Values.size() == 1 && !Given->Stepped &&
        Depth < MaxTerms)
      if (Sum Value = sum(Given->Values[0], Sign, Depth + 1); Value.Told)
        return Value;
  }
  if (const ValueDecl *V = older(E))
    Of.Others.push_back(V);
  else
    Of.Known = false;
  return Of;
}

/// How many seconds have to pass again behind a statement that sets one of the
/// older numbers by what the clock says; 0: it sets none.
double Periods::keeps(const Stmt &S, const Sum &Asked) const {
  const auto *E = dyn_cast<Expr>(&S);
  if (!E)
    return 0;
  const ValueDecl *To = nullptr;
  const Expr *Value = nullptr;
  StringRef Method = methodOn(E, To);
  const auto *Call = dyn_cast<CallExpr>(E);
  TwoSides O = sidesOf(E);
  bool Steps = false;
  if (Method == "store" || Method == "exchange")
    Value = Call->getNumArgs() ? Call->getArg(0) : nullptr;
  else if (Method.starts_with("compare_exchange"))
    Value = Call->getNumArgs() > 1 ? Call->getArg(1) : nullptr;
  else if (const auto *Atomic = dyn_cast<AtomicExpr>(E)) {
    To = wordOf(Atomic->getPtr());
    Value = Atomic->isCmpXChg()            ? Atomic->getVal2()
            : Atomic->getNumSubExprs() > 2 ? Atomic->getVal1()
                                           : nullptr;
  } else if (O.Left && (O.Kind == BO_Assign || O.Kind == BO_AddAssign)) {
    To = wordOf(O.Left);
    Value = O.Right;
    Steps = O.Kind == BO_AddAssign;
  }
  if (!To || !Value || !llvm::is_contained(Asked.Others, To))
    return 0;
  Sum Of = sum(Value, 1, 0);
  if (Of.Told ? Of.Sign < 0 || Steps : !Steps)
    return 0;
  const Clock &By = Of.Told ? *Of.Told : *Asked.Told;
  return std::max(Of.Seconds + Of.Number / By.PerSecond, 1 / By.Finest);
}

/// Does all that a block leads to set it, but for ways to \p Other on which
/// nothing was done?
bool Periods::keepsOnAllWays(
    const CFGBlock &B, const CFGBlock &Other, bool Changed, const Sum &Asked,
    double &Seconds, llvm::SmallVectorImpl<const CFGBlock *> &Seen) const {
  Seen.push_back(&B);
  for (const CFGElement &E : B)
    if (auto S = E.getAs<CFGStmt>()) {
      if (double Own = keeps(*S->getStmt(), Asked)) {
        Seconds = std::max(Seconds, Own);
        return true;
      }
      Changed |= changesAny(*S->getStmt());
    }
  bool Any = false;
  for (const CFGBlock::AdjacentBlock &Next : B.succs()) {
    const CFGBlock *To = Next.getReachableBlock();
    if (!To || (To == &Other && !Changed))
      continue;
    bool Only = llvm::all_of(To->preds(), [&](const auto &From) {
      return !From.getReachableBlock() ||
             llvm::is_contained(Seen, From.getReachableBlock());
    });
    if (Seen.size() >= MaxWayBlocks || llvm::is_contained(Seen, To) || !Only ||
        !keepsOnAllWays(*To, Other, Changed, Asked, Seconds, Seen))
      return false;
    Any = true;
  }
  return Any;
}

std::optional<bool> Periods::firstIsSeldom(const CFGBlock &B) const {
  const Expr *Condition = AnyClock ? B.getLastCondition() : nullptr;
  if (!Condition || B.succ_size() != 2 ||
      !isa_and_nonnull<IfStmt, BinaryOperator>(B.getTerminatorStmt()))
    return std::nullopt;
  TwoSides O = sidesOf(bare(Condition));
  if (!O.Left || !BinaryOperator::isComparisonOp(O.Kind))
    return std::nullopt;
  Sum Asked = sum(O.Left, 1, 0);
  add(Asked, sum(O.Right, -1, 0));
  if (!Asked.Told || Asked.Others.empty() || !Asked.Known)
    return std::nullopt;
  double Apart =
      std::abs(Asked.Seconds) + std::abs(Asked.Number) / Asked.Told->PerSecond;
  bool Sure = Asked.Others.size() == 1;
  const CFGBlock *Ways[] = {B.succ_begin()->getReachableBlock(),
                            (B.succ_begin() + 1)->getReachableBlock()};
  if (!Ways[0] || !Ways[1])
    return std::nullopt;
  for (unsigned N = 0; N < 2; ++N) {
    double Seconds = std::max(Sure ? Apart : 0, 1 / Asked.Told->Finest);
    llvm::SmallVector<const CFGBlock *, 8> Seen{&B};
    if (Ways[N] != &B && Ways[N]->pred_size() == 1 &&
        keepsOnAllWays(*Ways[N], *Ways[1 - N], false, Asked, Seconds, Seen) &&
        Seconds >= LeastSeconds)
      return N == 0;
  }
  return std::nullopt;
}

} // namespace linemate
