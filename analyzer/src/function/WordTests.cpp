//===- WordTests.cpp - Conditions that ask for a word ---------------------===//
//
// Owns the forms of such conditions and stores, atomic ones included.
//
//===----------------------------------------------------------------------===//

#include "WordTests.h"

#include "Atomics.h"
#include "Body.h"
#include "Chance.h"

#include "clang/Basic/Builtins.h"

using namespace clang;

namespace linemate {

namespace {

constexpr unsigned MaxTestDepth = 16;

/// Where a value was just loaded from, atomically or not.
Location wordLoadedFrom(const Expr *Value, Locations &At,
                        const ASTContext &Context) {
  std::optional<AtomicUse> Use;
  if (const auto *Atomic = dyn_cast<AtomicExpr>(Value))
    Use = atomicUse(*Atomic, Context);
  else if (const auto *Call = dyn_cast<CallExpr>(Value))
    Use = atomicUse(*Call, Context);
  else
    return Value->isLValue() ? At.object(Value) : Location();
  if (!Use || Use->Kind != AccessKind::Load)
    return {};
  return Use->Target->getType()->isAnyPointerType() ? At.pointee(Use->Target)
                                                    : At.object(Use->Target);
}

/// Says of which word the value is; false: of none.
bool asksForWord(const Expr *Value, WordTest &T, Locations &At,
                 UnitBuilder &Unit) {
  Location P = wordLoadedFrom(Value, At, Unit.context());
  if (P.In != Location::Kind::Variable || P.Indexed || P.BitField)
    return false;
  T.Size = At.sizeOf(Value->getType());
  T.Symbol = T.Size > 0 ? Unit.symbol(*P.Var) : -1;
  T.Offset = P.Offset;
  return T.Symbol >= 0;
}

/// What a local was last set to in a block, null where that is not seen.
const Expr *lastValue(const Expr *E, const CFGBlock &Block) {
  const auto *Ref = dyn_cast<DeclRefExpr>(E);
  const auto *Local = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
  if (!Local || !Local->hasLocalStorage())
    return nullptr;
  const Expr *Value = nullptr;
  for (const CFGElement &Element : Block) {
    std::optional<CFGStmt> S = Element.getAs<CFGStmt>();
    if (!S)
      continue;
    if (const auto *D = dyn_cast<DeclStmt>(S->getStmt())) {
      if (D->isSingleDecl() && D->getSingleDecl() == Local)
        Value = Local->getInit();
    } else if (const auto *B = dyn_cast<BinaryOperator>(S->getStmt());
               B && B->isAssignmentOp()) {
      const auto *To = dyn_cast<DeclRefExpr>(B->getLHS()->IgnoreParens());
      if (To && To->getDecl() == Local)
        Value = B->getOpcode() == BO_Assign ? B->getRHS() : nullptr;
    }
  }
  return Value;
}

/// The small number that an operand is, NotZero where it is another one.
std::optional<uint16_t> smallNumber(const Expr *E, const ASTContext &Context) {
  Expr::EvalResult Result;
  if (E->isValueDependent() || !E->getType()->isIntegralOrEnumerationType() ||
      !E->EvaluateAsInt(Result, Context, Expr::SE_NoSideEffects))
    return std::nullopt;
  llvm::APSInt Value = Result.Val.getInt();
  bool IsSmall = !Value.isNegative() && Value.ult(NotZero);
  return IsSmall ? uint16_t(Value.getZExtValue()) : NotZero;
}

} // namespace

/// "!x", "x == 0", "likely(x)" and the like, within each other.
WordTest wordTest(const Expr *E, Locations &At, UnitBuilder &Unit,
                  const CFGBlock *Block) {
  WordTest T;
  const ASTContext &Context = Unit.context();
  for (unsigned Depth = 0; Depth < MaxTestDepth; ++Depth) {
    E = E->IgnoreParenImpCasts();
    if (const auto *U = dyn_cast<UnaryOperator>(E);
        U && U->getOpcode() == UO_LNot) {
      T.EqualIfTrue = !T.EqualIfTrue;
      E = U->getSubExpr();
    } else if (const auto *B = dyn_cast<BinaryOperator>(E);
               B && B->isEqualityOp()) {
      const Expr *Left = B->getLHS(), *Right = B->getRHS();
      bool ZeroIsLeft = isZero(Left);
      bool AsksForEqual = B->getOpcode() == BO_EQ;
      if (ZeroIsLeft || isZero(Right)) {
        T.EqualIfTrue ^= AsksForEqual;
        E = ZeroIsLeft ? Right : Left;
        continue;
      }
      Left = Left->IgnoreParenImpCasts();
      Right = Right->IgnoreParenImpCasts();
      if (!asksForWord(Left, T, At, Unit)) {
        std::swap(Left, Right);
        if (!asksForWord(Left, T, At, Unit))
          return {};
      } else if (WordTest Second; asksForWord(Right, Second, At, Unit)) {
        return {};
      }
      std::optional<uint16_t> Number = smallNumber(Right, Context);
      if (Number == NotZero)
        return {};
      // Of what is asked for being true, "==" says equal as "!" says zero.
      T.EqualIfTrue ^= AsksForEqual;
      T.Against = Number.value_or(OtherValue);
      return T;
    } else if (const auto *Call = dyn_cast<CallExpr>(E);
               Call && Call->getNumArgs() >= 2 &&
               Call->getBuiltinCallee() == Builtin::BI__builtin_expect) {
      E = Call->getArg(0);
    } else if (const Expr *Value = Block ? lastValue(E, *Block) : nullptr) {
      E = Value;
      Block = nullptr;
    } else {
      return asksForWord(E, T, At, Unit) ? T : WordTest();
    }
  }
  return {};
}

/// What a statement changes, nothing where it is no plain or atomic store.
Location changedBy(const Stmt *S, Locations &At, const ASTContext &Context) {
  if (const auto *B = dyn_cast<BinaryOperator>(S))
    return B->isAssignmentOp() ? At.object(B->getLHS()->IgnoreParens())
                               : Location();
  if (const auto *U = dyn_cast<UnaryOperator>(S))
    return U->isIncrementDecrementOp()
               ? At.object(U->getSubExpr()->IgnoreParens())
               : Location();
  std::optional<AtomicUse> Use;
  if (const auto *Atomic = dyn_cast<AtomicExpr>(S))
    Use = atomicUse(*Atomic, Context);
  else if (const auto *Call = dyn_cast<CallExpr>(S))
    Use = atomicUse(*Call, Context);
  if (!Use || Use->Kind == AccessKind::Load)
    return {};
  return Use->Target->getType()->isAnyPointerType() ? At.pointee(Use->Target)
                                                    : At.object(Use->Target);
}

} // namespace linemate
