//===- Initialiser.cpp - Where the initial bytes of a variable go ---------===//
//
// Owns the answer to: zero, bytes, bytes with relocations, or filled before
// main.
//
//===----------------------------------------------------------------------===//

#include "Variables.h"

#include "clang/AST/APValue.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/Expr.h"
#include "clang/AST/ExprCXX.h"

#include <algorithm>

using namespace clang;

namespace linemate {

namespace {

constexpr unsigned MaxConstantDepth = 64;

InitKind stronger(InitKind A, InitKind B) { return std::max(A, B); }

InitKind ofValue(const APValue &Value, unsigned Depth) {
  if (Depth > MaxConstantDepth)
    return InitKind::Data;
  switch (Value.getKind()) {
  case APValue::None:
  case APValue::Indeterminate:
    return InitKind::Zero;
  case APValue::Int:
    return Value.getInt().isZero() ? InitKind::Zero : InitKind::Data;
  case APValue::Float: // -0.0 has a bit set
    return Value.getFloat().isPosZero() ? InitKind::Zero : InitKind::Data;
  case APValue::LValue:
    if (Value.getLValueBase())
      return InitKind::Addresses;
    return Value.getLValueOffset().isZero() ? InitKind::Zero : InitKind::Data;
  case APValue::MemberPointer: // a null pointer to data is -1
    return Value.getMemberPointerDecl() &&
                   isa<CXXMethodDecl>(Value.getMemberPointerDecl())
               ? InitKind::Addresses
               : InitKind::Data;
  case APValue::AddrLabelDiff:
    return InitKind::Data;
  case APValue::Struct: {
    InitKind Out = InitKind::Zero;
    for (unsigned I = 0; I < Value.getStructNumBases(); ++I)
      Out = stronger(Out, ofValue(Value.getStructBase(I), Depth + 1));
    for (unsigned I = 0; I < Value.getStructNumFields(); ++I)
      Out = stronger(Out, ofValue(Value.getStructField(I), Depth + 1));
    return Out;
  }
  case APValue::Union:
    return ofValue(Value.getUnionValue(), Depth + 1);
  case APValue::Array: {
    InitKind Out = InitKind::Zero;
    for (unsigned I = 0; I < Value.getArrayInitializedElts(); ++I) {
      Out = stronger(Out, ofValue(Value.getArrayInitializedElt(I), Depth + 1));
      if (Out == InitKind::Addresses)
        return Out;
    }
    if (Value.hasArrayFiller())
      Out = stronger(Out, ofValue(Value.getArrayFiller(), Depth + 1));
    return Out;
  }
  default:
    return InitKind::Data;
  }
}

/// C's initialisers, element by element: evaluating a table of a thousand
/// commands as one value would cost more than reading it.
InitKind ofExpression(ASTContext &Context, const Expr &E, unsigned Depth) {
  if (Depth > MaxConstantDepth)
    return InitKind::Data;
  const Expr *Plain = E.IgnoreParens();
  if (isa<ImplicitValueInitExpr, NoInitExpr>(Plain))
    return InitKind::Zero;
  if (const auto *List = dyn_cast<InitListExpr>(Plain)) {
    InitKind Out = InitKind::Zero;
    for (const Expr *Item : List->inits()) {
      if (Item)
        Out = stronger(Out, ofExpression(Context, *Item, Depth + 1));
      if (Out == InitKind::Addresses)
        return Out;
    }
    if (const Expr *Filler =
            List->hasArrayFiller() ? List->getArrayFiller() : nullptr)
      Out = stronger(Out, ofExpression(Context, *Filler, Depth + 1));
    return Out;
  }
  if (const auto *Literal = dyn_cast<CompoundLiteralExpr>(Plain);
      Literal && !Plain->getType()->isPointerType())
    return ofExpression(Context, *Literal->getInitializer(), Depth + 1);
  if (const auto *Text = dyn_cast<StringLiteral>(Plain))
    return Text->getBytes().find_first_not_of('\0') == llvm::StringRef::npos
               ? InitKind::Zero
               : InitKind::Data;
  if (const auto *Designated = dyn_cast<DesignatedInitUpdateExpr>(Plain))
    return stronger(
        ofExpression(Context, *Designated->getBase(), Depth + 1),
        ofExpression(Context, *Designated->getUpdater(), Depth + 1));
  // A record initialised from a compound literal.
  if (const auto *Cast = dyn_cast<ImplicitCastExpr>(Plain);
      Cast && Cast->getType()->isRecordType())
    return ofExpression(Context, *Cast->getSubExpr(), Depth + 1);
  Expr::EvalResult Result;
  if (E.isValueDependent() ||
      !E.EvaluateAsRValue(Result, Context, /*InConstantContext=*/true))
    return E.getType()->isPointerType() ? InitKind::Addresses : InitKind::Data;
  return ofValue(Result.Val, 0);
}

/// Whether objects of the type hold a pointer to virtual functions.
bool hasTablePointer(QualType Type, unsigned Depth) {
  const CXXRecordDecl *R =
      Type->getBaseElementTypeUnsafe()->getAsCXXRecordDecl();
  if (!R || !R->hasDefinition() || Depth > MaxConstantDepth)
    return false;
  if (R->isDynamicClass())
    return true;
  for (const CXXBaseSpecifier &B : R->bases())
    if (hasTablePointer(B.getType(), Depth + 1))
      return true;
  for (const FieldDecl *F : R->fields())
    if (hasTablePointer(F->getType(), Depth + 1))
      return true;
  return false;
}

} // namespace

InitKind initKind(ASTContext &Context, const Expr &E) {
  return ofExpression(Context, E, 0);
}

InitKind initKind(UnitBuilder &Unit, const VarDecl &D) {
  // A member that is initialised in its class is defined without initialiser.
  const VarDecl *Holder = &D;
  const Expr *Init = D.getAnyInitializer(Holder);
  if (!Init || Init->containsErrors())
    return InitKind::Zero;
  ASTContext &Context = Unit.context();
  if (!Context.getLangOpts().CPlusPlus)
    return ofExpression(Context, *Init, 0);
  if (Init->isValueDependent() || Init->isTypeDependent())
    return InitKind::Data;
  if (!Holder->hasConstantInitialization())
    return InitKind::Dynamic;
  if (hasTablePointer(D.getType(), 0))
    return InitKind::Addresses;
  const APValue *Value = Holder->evaluateValue();
  return Value ? ofValue(*Value, 0) : InitKind::Dynamic;
}

} // namespace linemate
