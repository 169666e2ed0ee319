//===- LoopWork.cpp - What a function does in its loops -------------------===//
//
// Owns what counts as an operation: about one instruction of what compilers
// make of it.
//
//===----------------------------------------------------------------------===//

#include "LoopWork.h"

#include "Body.h"

#include "clang/AST/Expr.h"

#include <map>

using namespace clang;

namespace linemate {

namespace {

/// Names, literals and conversions are operands of something that counts.
bool isOperation(const Stmt &S) {
  if (const auto *Both = dyn_cast<BinaryOperator>(&S))
    return !Both->isCommaOp() && !Both->isLogicalOp();
  if (const auto *One = dyn_cast<UnaryOperator>(&S))
    return One->getOpcode() != UO_AddrOf && One->getOpcode() != UO_Plus;
  return isa<ArraySubscriptExpr>(S);
}

} // namespace

void loopWork(const Shape &Blocks, Rows &Out) {
  std::map<std::pair<uint8_t, uint8_t>, int64_t> Done;
  for (const CFGBlock *B : Blocks.inOrder()) {
    const BlockShape &S = Blocks[B->getBlockID()];
    if (!S.LoopDepth)
      continue;
    int64_t Operations = 1; // the way to the next block
    for (const CFGElement &E : *B)
      if (auto Made = E.getAs<CFGStmt>())
        Operations += isOperation(*Made->getStmt());
    Done[{S.LoopDepth, S.Rarity}] += Operations;
  }
  for (auto [At, Operations] : Done)
    append(Out, {At.first, At.second, Operations});
}

} // namespace linemate
