//===- Chance.cpp - What a condition says of its branch -------------------===//
//
// Owns the heuristics.  The figures are those of Ball and Larus, "Branch
// prediction for free" (PLDI 1993), as Wu and Larus (MICRO-27, 1994) tabulate
// and combine them.
//
//===----------------------------------------------------------------------===//

#include "Chance.h"

#include "clang/AST/ExprCXX.h"
#include "clang/Basic/Builtins.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

using namespace clang;

namespace linemate {

namespace {

constexpr float PointerIsNull = 0.4F; // pointer heuristic: 60%
constexpr float ReturnsEarly = 0.28F; // return heuristic: 72%
constexpr float GoesToFailure = 0.1F; // a label that says so

float combine(float A, float B) { return A * B / (A * B + (1 - A) * (1 - B)); }

std::optional<int64_t> smallConstant(const Expr *E) {
  E = E->IgnoreParenImpCasts();
  if (const auto *I = dyn_cast<IntegerLiteral>(E))
    return I->getValue().getSignificantBits() <= 64
               ? std::optional(I->getValue().getSExtValue())
               : std::nullopt;
  if (const auto *U = dyn_cast<UnaryOperator>(E);
      U && U->getOpcode() == UO_Minus)
    if (auto Inner = smallConstant(U->getSubExpr()))
      return -*Inner;
  if (const auto *C = dyn_cast<CStyleCastExpr>(E))
    return smallConstant(C->getSubExpr());
  if (isa<CXXNullPtrLiteralExpr>(E) || isa<GNUNullExpr>(E))
    return 0;
  return std::nullopt;
}

} // namespace

bool isZero(const Expr *E) {
  const Expr *Plain = E->IgnoreParenCasts();
  if (const auto *Literal = dyn_cast<CXXBoolLiteralExpr>(Plain))
    return !Literal->getValue();
  if (const auto *Ref = dyn_cast<DeclRefExpr>(Plain))
    if (const auto *Of = dyn_cast<EnumConstantDecl>(Ref->getDecl()))
      return Of->getInitVal().isZero();
  return smallConstant(E) == 0;
}

namespace {

/// What __builtin_expect says of its argument.
std::optional<bool> expectedValue(const CallExpr &Call) {
  unsigned Id = Call.getBuiltinCallee();
  if ((Id != Builtin::BI__builtin_expect &&
       Id != Builtin::BI__builtin_expect_with_probability) ||
      Call.getNumArgs() < 2)
    return std::nullopt;
  auto Value = smallConstant(Call.getArg(1));
  return Value ? std::optional(*Value != 0) : std::nullopt;
}

float chanceIf(bool Expected) {
  return Expected ? 1 - UnlikelyChance : UnlikelyChance;
}

constexpr unsigned MaxOperands = 16; // within each other

void addOperands(const Expr *Of, bool Expected, Expectations &To,
                 unsigned Depth = 0) {
  Of = Of->IgnoreParenCasts();
  if (const auto *U = dyn_cast<UnaryOperator>(Of);
      U && U->getOpcode() == UO_LNot && Depth < MaxOperands)
    return addOperands(U->getSubExpr(), !Expected, To, Depth + 1);
  const auto *B = dyn_cast<BinaryOperator>(Of);
  if (!B || !B->isLogicalOp() || Depth == MaxOperands)
    return;
  for (const Expr *Operand : {B->getLHS(), B->getRHS()}) {
    To[Operand->IgnoreParenImpCasts()] = Expected;
    addOperands(Operand, Expected, To, Depth + 1);
  }
}

/// What the condition itself says of the chance that it holds.
float conditionHolds(const Expr *E, const ASTContext &Context,
                     unsigned Depth = 0) {
  E = E->IgnoreParenImpCasts();
  if (Depth > 16)
    return 0.5F;
  if (const auto *U = dyn_cast<UnaryOperator>(E);
      U && U->getOpcode() == UO_LNot)
    return 1 - conditionHolds(U->getSubExpr(), Context, Depth + 1);
  if (E->getType()->isAnyPointerType())
    return 1 - PointerIsNull;
  if (const auto *Call = dyn_cast<CallExpr>(E)) {
    std::optional<bool> Expected = expectedValue(*Call);
    return Expected ? chanceIf(*Expected) : 0.5F;
  }
  const auto *B = dyn_cast<BinaryOperator>(E);
  if (!B)
    return 0.5F;
  if (B->getOpcode() == BO_Assign)
    return B->getType()->isAnyPointerType() ? 1 - PointerIsNull : 0.5F;
  if (!B->isComparisonOp())
    return 0.5F;
  auto Right = smallConstant(B->getRHS());
  if (!Right)
    return 0.5F;
  bool IsPointer =
      B->getLHS()->IgnoreParenImpCasts()->getType()->isAnyPointerType();
  switch (B->getOpcode()) {
  case BO_EQ:
    if (IsPointer)
      return *Right == 0 ? PointerIsNull : 0.5F;
    if (*Right == 0) // likely(x) == 0
      return 1 - conditionHolds(B->getLHS(), Context, Depth + 1);
    return *Right < 0 ? IsNegative : 0.5F;
  case BO_NE:
    if (IsPointer)
      return *Right == 0 ? 1 - PointerIsNull : 0.5F;
    if (*Right == 0)
      return conditionHolds(B->getLHS(), Context, Depth + 1);
    return *Right < 0 ? 1 - IsNegative : 0.5F;
  case BO_LT:
  case BO_LE:
    return *Right <= 0 ? IsNegative : 0.5F;
  case BO_GT:
  case BO_GE:
    return *Right <= 0 ? 1 - IsNegative : 0.5F;
  default:
    return 0.5F;
  }
}

bool speaksOfFailure(StringRef Label) {
  for (StringRef Word : {"err", "fail", "oom", "bad", "abort", "nomem"})
    if (Label.contains_insensitive(Word))
      return true;
  return false;
}

/// -1, NULL or nothing.
bool isFailureValue(const Expr *E) {
  auto Value = smallConstant(E);
  return Value &&
         (*Value < 0 || (*Value == 0 && E->getType()->isAnyPointerType()));
}

/// What a test for zero or null looks at: "!x", "x == 0", atomic or not.
const Expr *testedForZero(const Expr *E) {
  E = E->IgnoreParenImpCasts();
  if (const auto *U = dyn_cast<UnaryOperator>(E);
      U && U->getOpcode() == UO_LNot)
    return U->getSubExpr()->IgnoreParenImpCasts();
  const auto *B = dyn_cast<BinaryOperator>(E);
  if (!B || B->getOpcode() != BO_EQ)
    return nullptr;
  auto Right = smallConstant(B->getRHS());
  return Right && *Right == 0 ? B->getLHS()->IgnoreParenImpCasts() : nullptr;
}

const ValueDecl *named(const Expr *E) {
  E = E->IgnoreParenImpCasts();
  if (const auto *U = dyn_cast<UnaryOperator>(E);
      U && U->getOpcode() == UO_AddrOf)
    E = U->getSubExpr()->IgnoreParenImpCasts();
  if (const auto *Ref = dyn_cast<DeclRefExpr>(E))
    return Ref->getDecl();
  if (const auto *M = dyn_cast<MemberExpr>(E))
    return M->getMemberDecl();
  return nullptr;
}

/// The variable or member of which \p E is the value, loaded atomically or
/// not.
const ValueDecl *valueOf(const Expr *E) {
  if (const auto *Member = dyn_cast<CXXMemberCallExpr>(E))
    return named(Member->getImplicitObjectArgument());
  if (const auto *Atomic = dyn_cast<AtomicExpr>(E))
    return named(Atomic->getPtr());
  return named(E);
}

/// Does \p S give \p V a value that is not zero?
bool sets(const Stmt *S, const ValueDecl &V) {
  if (const auto *B = dyn_cast<BinaryOperator>(S)) {
    if (!B->isAssignmentOp() || named(B->getLHS()) != &V)
      return false;
    auto Value = smallConstant(B->getRHS());
    return !Value || *Value != 0;
  }
  if (const auto *Atomic = dyn_cast<AtomicExpr>(S))
    return !Atomic->isCmpXChg() && Atomic->getNumSubExprs() > 2 &&
           named(Atomic->getPtr()) == &V;
  if (const auto *Operator = dyn_cast<CXXOperatorCallExpr>(S))
    return Operator->isAssignmentOp() && Operator->getNumArgs() == 2 &&
           named(Operator->getArg(0)) == &V;
  const auto *Call = dyn_cast<CXXMemberCallExpr>(S);
  const auto *Method = Call ? Call->getMethodDecl() : nullptr;
  return Method && Method->getIdentifier() && Method->getName() == "store" &&
         named(Call->getImplicitObjectArgument()) == &V;
}

/// How many statements of a branch are so.
template <typename Predicate>
unsigned countIn(const Stmt &Branch, Predicate Is) {
  constexpr unsigned MaxStatements = 256;
  unsigned Count = 0;
  llvm::SmallVector<const Stmt *, 32> Work{&Branch};
  for (unsigned Seen = 0; !Work.empty() && Seen < MaxStatements; ++Seen) {
    const Stmt *S = Work.pop_back_val();
    Count += Is(S);
    for (const Stmt *Child : S->children())
      if (Child)
        Work.push_back(Child);
  }
  return Count;
}

/// "if (!x) { ...; x = ...; }": what is made once, and found from then on.
bool makesOnce(const IfStmt &If) {
  const Expr *Tested = testedForZero(If.getCond());
  const ValueDecl *V = Tested ? valueOf(Tested) : nullptr;
  return V &&
         countIn(*If.getThen(), [V](const Stmt *S) { return sets(S, *V); });
}

/// The variable of thread-local storage that a statement changes, if any.
const ValueDecl *changedOwn(const Stmt *S) {
  const Expr *To = nullptr;
  if (const auto *B = dyn_cast<BinaryOperator>(S); B && B->isAssignmentOp())
    To = B->getLHS();
  else if (const auto *U = dyn_cast<UnaryOperator>(S);
           U && (U->isIncrementDecrementOp() || U->getOpcode() == UO_AddrOf))
    To = U->getSubExpr();
  const auto *V = dyn_cast_or_null<VarDecl>(To ? named(To) : nullptr);
  return V && V->getTLSKind() != VarDecl::TLS_None ? V : nullptr;
}

/// The variable of thread-local storage that is compared with a constant, as
/// that has no number yet: "x == NONE", "x < 0", "!x".
const ValueDecl *ownWithoutValue(const Expr *E, const ASTContext &Context) {
  E = E->IgnoreParenImpCasts();
  const Expr *Of = testedForZero(E);
  if (const auto *B = dyn_cast<BinaryOperator>(E);
      !Of && B && (B->getOpcode() == BO_EQ || B->getOpcode() == BO_LT) &&
      B->getRHS()->isIntegerConstantExpr(Context))
    Of = B->getLHS();
  const auto *V = dyn_cast_or_null<VarDecl>(Of ? named(Of) : nullptr);
  return V && V->getTLSKind() != VarDecl::TLS_None ? V : nullptr;
}

/// "if (my_slot < 0) my_slot = next_slot++;": what each thread does once.  What
/// sets the variable to a constant may be undone elsewhere, and one that the
/// function changes elsewhere as well is used up.
bool isFirstOfThread(const IfStmt &If, const ASTContext &Context,
                     const OwnChanges &Changes) {
  const ValueDecl *V = ownWithoutValue(If.getCond(), Context);
  if (!V || Changes.lookup(V) != 1)
    return false;
  return countIn(*If.getThen(), [&](const Stmt *S) {
           const auto *B = dyn_cast<BinaryOperator>(S);
           return B && B->getOpcode() == BO_Assign && named(B->getLHS()) == V &&
                  !B->getRHS()->isEvaluatable(Context);
         }) == 1;
}

/// "ret = -EINVAL": what the function is about to tell its caller.
bool notesFailure(const Stmt *S) {
  const auto *B = dyn_cast<BinaryOperator>(S);
  if (!B || B->getOpcode() != BO_Assign)
    return false;
  const auto *Ref = dyn_cast<DeclRefExpr>(B->getLHS()->IgnoreParens());
  const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
  auto Value = smallConstant(B->getRHS());
  return V && V->hasLocalStorage() && V->getType()->isIntegerType() && Value &&
         *Value < 0;
}

/// The statements of a branch.
llvm::SmallVector<const Stmt *, 8> statementsOf(const Stmt &Branch) {
  if (const auto *Body = dyn_cast<CompoundStmt>(&Branch))
    return {Body->body_begin(), Body->body_end()};
  return {&Branch};
}

enum class Way { Usual, Returns, Fails };

Way wayOf(const Stmt *Branch) {
  if (!Branch)
    return Way::Usual;
  auto All = statementsOf(*Branch);
  // Macros are written so.
  if (const auto *Do = All.empty() ? nullptr : dyn_cast<DoStmt>(All.back());
      Do && isZero(Do->getCond()))
    All = statementsOf(*Do->getBody());
  const Stmt *Last = All.empty() ? nullptr : All.back();
  if (!Last)
    return Way::Usual;
  if (const auto *Go = dyn_cast<GotoStmt>(Last))
    return speaksOfFailure(Go->getLabel()->getName()) ||
                   llvm::any_of(All, notesFailure)
               ? Way::Fails
               : Way::Usual;
  if (const auto *R = dyn_cast<ReturnStmt>(Last)) {
    if (R->getRetValue() && isFailureValue(R->getRetValue()))
      return Way::Fails;
    return Way::Returns;
  }
  if (const auto *E = dyn_cast<Expr>(Last);
      E && isa<CXXThrowExpr>(E->IgnoreImplicit()))
    return Way::Fails;
  return Way::Usual;
}

float chanceOf(Way W) {
  return W == Way::Fails     ? GoesToFailure
         : W == Way::Returns ? ReturnsEarly
                             : 0.5F;
}

} // namespace

SaidElsewhere::SaidElsewhere(const CFG &Graph, const ASTContext &Context)
    : Failed(Context) {
  for (const CFGBlock *B : Graph)
    for (const CFGElement &E : *B) {
      auto S = E.getAs<CFGStmt>();
      if (!S)
        continue;
      Failed.see(*S->getStmt());
      if (const ValueDecl *V = changedOwn(S->getStmt()))
        ++Changes[V];
      const auto *Call = dyn_cast<CallExpr>(S->getStmt());
      std::optional<bool> Value = Call ? expectedValue(*Call) : std::nullopt;
      if (Value)
        addOperands(Call->getArg(0), *Value, Expected);
    }
}

bool mayAskOfFailure(const CFGBlock &B) {
  const Expr *Condition = B.getLastCondition();
  if (!Condition || !isa_and_nonnull<IfStmt>(B.getTerminatorStmt()))
    return false;
  const auto *O = dyn_cast<BinaryOperator>(Condition->IgnoreParenImpCasts());
  if (!O || !O->isRelationalOp())
    return true;
  // Of other numbers than zero it asks for an order, as whether an index is
  // within bounds.
  return isZero(O->getRHS()) && O->getOpcode() != BO_LE &&
         O->getOpcode() != BO_GT;
}

float chanceOfTrue(const CFGBlock &B, const ASTContext &Context,
                   const SaidElsewhere &Said) {
  const Stmt *Terminator = B.getTerminatorStmt();
  // A static of a function was initialised before, and is but once, be it for
  // each thread.
  if (isa_and_nonnull<DeclStmt>(Terminator))
    return 1 - FirstTimeChance;
  const Expr *Condition = B.getLastCondition();
  if (!Terminator || !Condition)
    return 0.5F;
  const auto *If = dyn_cast<IfStmt>(Terminator);
  auto Operand = If ? Said.Expected.end()
                    : Said.Expected.find(Condition->IgnoreParenImpCasts());
  if (Operand != Said.Expected.end())
    return chanceIf(Operand->second);
  float Holds = conditionHolds(Condition, Context);
  if (!If)
    return Holds;
  if (isFirstOfThread(*If, Context, Said.Changes))
    return FirstTimeChance;
  switch (Stmt::getLikelihood(If->getThen(), If->getElse())) {
  case Stmt::LH_Likely:
    return 1 - UnlikelyChance;
  case Stmt::LH_Unlikely:
    return UnlikelyChance;
  case Stmt::LH_None:
    break;
  }
  if (makesOnce(*If))
    return combine(Holds, UnlikelyChance);
  Way Then = wayOf(If->getThen());
  Way Else = wayOf(If->getElse());
  if (Then != Else)
    Holds = combine(Holds, combine(chanceOf(Then), 1 - chanceOf(Else)));
  return Holds;
}

} // namespace linemate
