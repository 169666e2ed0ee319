//===- IndexSteps.cpp - What an index counts ------------------------------===//
//
// Owns the arithmetic of an index: its constant factor and sum.
//
//===----------------------------------------------------------------------===//

#include "IndexSteps.h"

#include <utility>

using namespace clang;

namespace linemate {

namespace {

/// An index beyond is not of an array in memory; products stay far from 2^63.
constexpr int64_t MaxIndex = int64_t(1) << 28;

} // namespace

std::optional<int64_t> constantOf(const Expr *E, const ASTContext &Context) {
  Expr::EvalResult Result;
  if (E->isValueDependent() || !E->getType()->isIntegralOrEnumerationType() ||
      !E->EvaluateAsInt(Result, Context, Expr::SE_NoSideEffects))
    return std::nullopt;
  return Result.Val.getInt().getExtValue();
}

Steps stepsOf(const Expr *Index, const ASTContext &Context, unsigned Depth) {
  Steps S;
  const auto *B = dyn_cast<BinaryOperator>(Index->IgnoreParenImpCasts());
  if (!B || Depth > MaxLocationDepth)
    return S;
  const Expr *Left = B->getLHS();
  const Expr *Right = B->getRHS();
  if (B->getOpcode() == BO_Add || B->getOpcode() == BO_Mul)
    if (constantOf(Left, Context))
      std::swap(Left, Right);
  auto Constant = constantOf(Right, Context);
  if (!Constant || *Constant < 0 || *Constant > MaxIndex)
    return S;
  int64_t Times = 1;
  switch (B->getOpcode()) {
  case BO_Add:
  case BO_Sub:
    S = stepsOf(Left, Context, Depth + 1);
    S.Sum += B->getOpcode() == BO_Add ? *Constant : -*Constant;
    break;
  case BO_Mul:
    Times = *Constant;
    break;
  case BO_Shl:
    Times = *Constant < 28 ? int64_t(1) << *Constant : 0;
    break;
  default:
    return S;
  }
  if (B->getOpcode() == BO_Mul || B->getOpcode() == BO_Shl) {
    Steps Inner = stepsOf(Left, Context, Depth + 1);
    if (Times <= 0 || Inner.Factor > MaxIndex / Times)
      return {};
    S = {Inner.Factor * Times, Inner.Sum * Times};
  }
  return S.Sum > MaxIndex || S.Sum < -MaxIndex ? Steps() : S;
}

} // namespace linemate
