//===- Rounds.cpp - Conditions that ask which round it is -----------------===//
//
// Owns the forms in which programs ask it: "n % 1000 == 0", "!(n & 1023)",
// "++n == 1000", and "++n >= 1000" where n is set back then.
//
//===----------------------------------------------------------------------===//

#include "Rounds.h"

#include "clang/AST/ExprCXX.h"

#include <bit>

using namespace clang;

namespace linemate {

namespace {

/// Of fewer numbers that are taken in turns, one is as likely as any guess.
constexpr uint64_t FewRounds = 2;
/// Numbers that are left of a counter, divided by what is no constant.  It may
/// be a small setting: of so few, what is done for one still counts as done as
/// a rule.
constexpr uint64_t UnknownNumbers = 4;

float oneOf(uint64_t Numbers) { return 1.0F / float(Numbers); }

/// What "++n", "n += 1", "n++" move on.
const Expr *steppedBy(const Stmt &S) {
  if (const auto *U = dyn_cast<UnaryOperator>(&S))
    return U->isIncrementDecrementOp() ? U->getSubExpr() : nullptr;
  if (const auto *B = dyn_cast<CompoundAssignOperator>(&S)) {
    const auto *By =
        dyn_cast<IntegerLiteral>(B->getRHS()->IgnoreParenImpCasts());
    bool Moves =
        B->getOpcode() == BO_AddAssign || B->getOpcode() == BO_SubAssign;
    return Moves && By && By->getValue() == 1 ? B->getLHS() : nullptr;
  }
  const auto *Call = dyn_cast<CXXOperatorCallExpr>(&S);
  return Call && Call->getNumArgs() &&
                 (Call->getOperator() == OO_PlusPlus ||
                  Call->getOperator() == OO_MinusMinus)
             ? Call->getArg(0)
             : nullptr;
}

/// Does it add one to what several threads count, and yield that?
bool countsAtomically(const Expr *E) {
  if (const auto *Atomic = dyn_cast<AtomicExpr>(E))
    switch (Atomic->getOp()) {
    case AtomicExpr::AO__c11_atomic_fetch_add:
    case AtomicExpr::AO__atomic_fetch_add:
    case AtomicExpr::AO__atomic_add_fetch:
      return true;
    default:
      return false;
    }
  const auto *Call = dyn_cast<CallExpr>(E);
  const auto *Callee = Call ? Call->getDirectCallee() : nullptr;
  if (!Callee || !Callee->getIdentifier())
    return false;
  StringRef Name = Callee->getName();
  return Name == "fetch_add" || Name == "__sync_fetch_and_add" ||
         Name == "__sync_add_and_fetch";
}

/// Does a way set a counter to a constant, or take off it?
bool setsBack(const CFGBlock *Way, const ValueDecl &Counter) {
  for (const CFGElement &E : *Way) {
    auto S = E.getAs<CFGStmt>();
    const auto *B = S ? dyn_cast<BinaryOperator>(S->getStmt()) : nullptr;
    if (B && (B->getOpcode() == BO_Assign || B->getOpcode() == BO_SubAssign) &&
        declared(B->getLHS()) == &Counter)
      return true;
  }
  return false;
}

/// What a way sets a counter to.
const Expr *setTo(const CFGBlock *Way, const ValueDecl &Counter) {
  for (const CFGElement &E : *Way) {
    auto S = E.getAs<CFGStmt>();
    const auto *B = S ? dyn_cast<BinaryOperator>(S->getStmt()) : nullptr;
    if (B && B->getOpcode() == BO_Assign && declared(B->getLHS()) == &Counter)
      return B->getRHS();
  }
  return nullptr;
}

} // namespace

const ValueDecl *declared(const Expr *E) {
  E = E->IgnoreParenCasts();
  if (const auto *Ref = dyn_cast<DeclRefExpr>(E))
    return Ref->getDecl();
  if (const auto *M = dyn_cast<MemberExpr>(E))
    return M->getMemberDecl();
  return nullptr;
}

Rounds::Rounds(const CFG &Graph, const ASTContext &Context) : Context(Context) {
  for (const CFGBlock *B : Graph)
    for (const CFGElement &E : *B)
      if (auto S = E.getAs<CFGStmt>())
        note(*S->getStmt());
}

void Rounds::note(const Stmt &S) {
  const Expr *Of = steppedBy(S);
  const ValueDecl *V = Of ? declared(Of) : nullptr;
  if (V && !V->getType()->isPointerType())
    Stepped.insert(V);
  const auto *E = dyn_cast<Expr>(&S);
  Counts = Counts || V || (E && countsAtomically(E));
  const Expr *Set = nullptr;
  if (const auto *B = dyn_cast<BinaryOperator>(&S))
    Set = B->isAssignmentOp() ? B->getLHS() : nullptr;
  else if (const auto *U = dyn_cast<UnaryOperator>(&S))
    Set = U->isIncrementDecrementOp() || U->getOpcode() == UO_AddrOf
              ? U->getSubExpr()
              : nullptr;
  if (const ValueDecl *Of = Set ? declared(Set) : nullptr)
    Changed.insert(Of);
}

/// What a local variable is made with that nothing sets again, else itself.
const Expr *Rounds::valueOf(const Expr *E) const {
  E = E->IgnoreParenCasts();
  const auto *Ref = dyn_cast<DeclRefExpr>(E);
  const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
  bool IsMade = V && V->hasLocalStorage() && !isa<ParmVarDecl>(V) &&
                V->getInit() && V->getType()->isIntegralOrEnumerationType() &&
                !Changed.contains(V);
  return IsMade ? V->getInit()->IgnoreParenCasts() : E;
}

std::optional<uint64_t> Rounds::constant(const Expr *E) const {
  Expr::EvalResult Result;
  if (E->isValueDependent() || !E->getType()->isIntegralOrEnumerationType() ||
      !E->EvaluateAsInt(Result, Context) || !Result.Val.isInt())
    return std::nullopt;
  const llvm::APSInt &Value = Result.Val.getInt();
  if (Value.isNegative() || Value.getActiveBits() > 63)
    return std::nullopt;
  return Value.getZExtValue();
}

/// The variable or member that \p E is the value of, if it moves on by steps.
const ValueDecl *Rounds::counterOf(const Expr *E) const {
  E = E->IgnoreParenCasts();
  if (const Expr *Of = steppedBy(*E))
    E = Of;
  const ValueDecl *V = declared(E);
  return V && Stepped.contains(V) ? V : nullptr;
}

bool Rounds::isCounted(const Expr *E) const {
  E = valueOf(E);
  if (const auto *B = dyn_cast<BinaryOperator>(E);
      B && B->isAdditiveOp() && constant(B->getRHS()))
    E = B->getLHS()->IgnoreParenCasts();
  return counterOf(E) || countsAtomically(E);
}

/// Of "n % K" and "n & (K - 1)" how many numbers it may be, each as often.  A
/// power of two may ask how something is aligned: of a counter it does not.
/// One that is divided by what is no constant begins again after several.
std::optional<uint64_t> Rounds::numbersOf(const Expr *E) const {
  const auto *B = dyn_cast<BinaryOperator>(valueOf(E));
  if (!B || (B->getOpcode() != BO_Rem && B->getOpcode() != BO_And))
    return std::nullopt;
  std::optional<uint64_t> By = constant(B->getRHS());
  if (!By && B->getOpcode() == BO_Rem && B->getType()->isIntegerType() &&
      isCounted(B->getLHS()))
    return UnknownNumbers;
  if (!By || *By == 0)
    return std::nullopt;
  uint64_t Numbers = *By;
  if (B->getOpcode() == BO_And) {
    Numbers = (*By >> std::countr_zero(*By)) + 1;
    if (!std::has_single_bit(Numbers))
      return std::nullopt;
  }
  bool IsSure = !std::has_single_bit(Numbers) || isCounted(B->getLHS());
  return IsSure && Numbers > FewRounds ? std::optional(Numbers) : std::nullopt;
}

/// The chance that two are equal; \p Way is the one that is taken then.
std::optional<float> Rounds::equal(const BinaryOperator &B,
                                   const CFGBlock *Way) const {
  std::optional<uint64_t> To = constant(B.getRHS());
  if (!To)
    return std::nullopt;
  if (auto Numbers = numbersOf(B.getLHS()))
    return oneOf(*Numbers);
  const ValueDecl *Counter = counterOf(B.getLHS());
  if (Counter && *To == 0)
    if (const Expr *Start = setTo(Way, *Counter))
      To = constant(Start);
  if ((Counter || countsAtomically(B.getLHS()->IgnoreParenCasts())) && To &&
      *To > FewRounds)
    return oneOf(*To);
  return std::nullopt;
}

std::optional<float> Rounds::holds(const Expr *E, const CFGBlock *Then,
                                   const CFGBlock *Else) const {
  E = E->IgnoreParenCasts();
  auto Other = [](std::optional<float> C) {
    return C ? std::optional(1 - *C) : C;
  };
  if (const auto *U = dyn_cast<UnaryOperator>(E);
      U && U->getOpcode() == UO_LNot)
    return Other(holds(U->getSubExpr(), Else, Then));
  if (auto Numbers = numbersOf(E))
    return 1 - oneOf(*Numbers);
  if (const ValueDecl *Counter = counterOf(E)) {
    const Expr *Start = setTo(Else, *Counter); // if (--n == 0)
    std::optional<uint64_t> From = Start ? constant(Start) : std::nullopt;
    return From && *From > FewRounds ? std::optional(1 - oneOf(*From))
                                     : std::nullopt;
  }
  const auto *B = dyn_cast<BinaryOperator>(E);
  if (!B || !B->isComparisonOp())
    return std::nullopt;
  if (B->getOpcode() == BO_EQ)
    return equal(*B, Then);
  if (B->getOpcode() == BO_NE)
    return Other(equal(*B, Else));
  const ValueDecl *Counter = counterOf(B->getLHS());
  std::optional<uint64_t> Bound = constant(B->getRHS());
  if (!Counter || !Bound || *Bound <= FewRounds)
    return std::nullopt;
  bool Ends = B->getOpcode() == BO_GE || B->getOpcode() == BO_GT;
  if (!setsBack(Ends ? Then : Else, *Counter))
    return std::nullopt;
  return Ends ? oneOf(*Bound) : 1 - oneOf(*Bound);
}

std::optional<float> Rounds::chanceOfFirst(const CFGBlock &B) const {
  const Expr *Condition = B.getLastCondition();
  if (!Condition || !Counts || B.succ_size() != 2)
    return std::nullopt;
  const CFGBlock *Then = B.succ_begin()->getReachableBlock();
  const CFGBlock *Else = (B.succ_begin() + 1)->getReachableBlock();
  return Then && Else ? holds(Condition, Then, Else) : std::nullopt;
}

std::optional<float> Rounds::chanceOfLeaving(const CFGBlock &B) const {
  const Stmt *Loop = B.getTerminatorStmt();
  const Expr *Condition = B.getLastCondition();
  if (!isa_and_nonnull<ForStmt, WhileStmt, DoStmt>(Loop) || !Condition)
    return std::nullopt;
  const auto *O = dyn_cast<BinaryOperator>(Condition->IgnoreParenCasts());
  if (!O || !O->isComparisonOp() || O->getOpcode() == BO_EQ ||
      !counterOf(O->getLHS()))
    return std::nullopt;
  std::optional<uint64_t> Bound = constant(O->getRHS());
  return Bound && *Bound > FewRounds ? std::optional(oneOf(*Bound))
                                     : std::nullopt;
}

} // namespace linemate
