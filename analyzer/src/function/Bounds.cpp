//===- Bounds.cpp - Which way of a branch is out of an array --------------===//
//
// Owns the forms in which programs ask it: "i < 8", "i > MAX - 1" of what is an
// index of that many elements, and "n > sizeof buffer".
//
//===----------------------------------------------------------------------===//

#include "Bounds.h"
#include "Chance.h"
#include "Rounds.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

using namespace clang;

namespace linemate {

namespace {

/// A variable or member, and a number of elements that it chooses from.
using Extents = llvm::DenseSet<std::pair<const ValueDecl *, uint64_t>>;

Extents extentsOf(const CFG &Graph, const ASTContext &Context) {
  Extents Found;
  for (const CFGBlock *B : Graph)
    for (const CFGElement &E : *B) {
      auto S = E.getAs<CFGStmt>();
      const auto *Element =
          S ? dyn_cast<ArraySubscriptExpr>(S->getStmt()) : nullptr;
      const ValueDecl *Index = Element ? declared(Element->getIdx()) : nullptr;
      const auto *Array =
          Index ? Context.getAsConstantArrayType(
                      Element->getBase()->IgnoreParenImpCasts()->getType())
                : nullptr;
      if (Array)
        Found.insert({Index, Array->getSize().getLimitedValue()});
    }
  return Found;
}

bool isSizeOfArray(const Expr *E) {
  const auto *Size = dyn_cast<UnaryExprOrTypeTraitExpr>(E->IgnoreParenCasts());
  return Size && Size->getKind() == UETT_SizeOf &&
         Size->getTypeOfArgument()->isConstantArrayType();
}

/// Where the condition of a block with two ways checks bounds, whether the
/// first way is the one within them.
std::optional<bool> firstIsWithin(const CFGBlock &B, const ASTContext &Context,
                                  const Extents &Known) {
  const auto *O = B.succ_size() == 2
                      ? dyn_cast_or_null<BinaryOperator>(
                            B.getLastCondition()
                                ? B.getLastCondition()->IgnoreParenImpCasts()
                                : nullptr)
                      : nullptr;
  if (!O || !O->isRelationalOp() || O->getRHS()->isValueDependent())
    return std::nullopt;
  bool Below = O->getOpcode() == BO_LT || O->getOpcode() == BO_LE;
  // A length may be all of the size.
  if (isSizeOfArray(O->getRHS()))
    return Below;
  Expr::EvalResult Most;
  const ValueDecl *Index = declared(O->getLHS());
  if (!Index || !O->getRHS()->EvaluateAsInt(Most, Context) ||
      Most.Val.getInt().isNegative())
    return std::nullopt;
  bool Included = O->getOpcode() == BO_LE || O->getOpcode() == BO_GT;
  uint64_t First = Most.Val.getInt().getLimitedValue() + Included;
  return Known.contains({Index, First}) ? std::optional(Below) : std::nullopt;
}

const CFGBlock *wayOf(const CFGBlock &B, bool First) {
  return (B.succ_begin() + (First ? 0 : 1))->getReachableBlock();
}

} // namespace

Bounds::Bounds(const CFG &Graph, const ASTContext &Context)
    : Out(Graph.getNumBlockIDs()) {
  Extents Known = extentsOf(Graph, Context);
  for (const CFGBlock *B : Graph)
    if (std::optional<bool> Within = firstIsWithin(*B, Context, Known))
      if (const CFGBlock *To = wayOf(*B, !*Within))
        Out[To->getBlockID()] = true;
  for (const CFGBlock *B : Graph)
    if (Out[B->getBlockID()] &&
        !llvm::all_of(B->preds(), [](const CFGBlock::AdjacentBlock &From) {
          const CFGBlock *Reached = From.getReachableBlock();
          return !Reached || Reached->succ_size() == 2;
        }))
      Out[B->getBlockID()] = false;
}

std::optional<float> Bounds::chanceOfFirst(const CFGBlock &B) const {
  const CFGBlock *First = wayOf(B, true), *Second = wayOf(B, false);
  bool FirstIsOut = First && Out[First->getBlockID()];
  if (FirstIsOut == (Second && Out[Second->getBlockID()]))
    return std::nullopt;
  return FirstIsOut ? IsNegative : 1 - IsNegative;
}

} // namespace linemate
