//===- Room.cpp - For how many objects a call allocates -------------------===//
//
// Owns reading a constant number of records out of what a call asks for: a
// number and a size, or a product of both.
//
//===----------------------------------------------------------------------===//

#include "Body.h"
#include "Location.h"

using namespace clang;

namespace linemate {

namespace {

constexpr unsigned MaxFactors = 8;
constexpr int64_t MaxRoom = int64_t(1) << 40;

int64_t product(int64_t A, int64_t B) {
  return A > 0 && B > 0 && A <= MaxRoom / B ? A * B : 0;
}

/// A constant above zero, or 0.
int64_t numberIn(const Expr *E, const ASTContext &Context) {
  Expr::EvalResult Result;
  if (E->isValueDependent() || !E->EvaluateAsInt(Result, Context))
    return 0;
  const llvm::APSInt &N = Result.Val.getInt();
  return N.isStrictlyPositive() && N.getActiveBits() < 63 ? N.getExtValue() : 0;
}

/// Of how many records, or objects of type \p Of, \p E is the size: sizeof(T),
/// or that times constants; 0 where it is anything else.
int64_t objectsIn(const Expr *E, const ASTContext &Context, QualType Of,
                  unsigned Depth = 0) {
  E = E->IgnoreParenCasts();
  if (const auto *S = dyn_cast<UnaryExprOrTypeTraitExpr>(E)) {
    QualType T = S->getTypeOfArgument();
    if (S->getKind() != UETT_SizeOf || T->isDependentType())
      return 0;
    const auto *A = Context.getAsConstantArrayType(T);
    int64_t Count = A ? int64_t(Context.getConstantArrayElementCount(A)) : 1;
    T = Context.getBaseElementType(T);
    bool IsIt =
        Of.isNull() ? T->isRecordType() : Context.hasSameUnqualifiedType(T, Of);
    return IsIt ? Count : 0;
  }
  const auto *B = dyn_cast<BinaryOperator>(E);
  if (!B || B->getOpcode() != BO_Mul || Depth > MaxFactors)
    return 0;
  // A size is a constant as well, but no number of records.
  if (int64_t Right = objectsIn(B->getRHS(), Context, Of, Depth + 1))
    return product(Right, numberIn(B->getLHS(), Context));
  if (int64_t Left = objectsIn(B->getLHS(), Context, Of, Depth + 1))
    return product(Left, numberIn(B->getRHS(), Context));
  return 0;
}

/// Is a function told a number of objects, and their size besides?
bool takesNumber(StringRef Name) {
  for (StringRef End : {"calloc", "allocarray", "alloc_array", "_n"})
    if (Name.ends_with_insensitive(End))
      return true;
  return false;
}

} // namespace

int64_t roomOf(const CallExpr &C, const FunctionDecl &F,
               const ASTContext &Context, QualType Of) {
  for (unsigned I = 0; I < C.getNumArgs(); ++I) {
    int64_t Count = objectsIn(C.getArg(I), Context, Of);
    if (!Count)
      continue;
    if (!F.getIdentifier() || !takesNumber(F.getName()))
      return Count;
    return I ? product(Count, numberIn(C.getArg(I - 1), Context)) : 0;
  }
  return 0;
}

int64_t roomOf(const CXXNewExpr &N, const ASTContext &Context) {
  int64_t Count = 1;
  QualType T = N.getAllocatedType();
  if (const auto *A = Context.getAsConstantArrayType(T))
    Count = product(Count, Context.getConstantArrayElementCount(A));
  if (!N.isArray())
    return Count;
  auto Size = N.getArraySize();
  return Size && *Size ? product(Count, numberIn(*Size, Context)) : 0;
}

int64_t roomOfMade(const CallExpr &C, QualType Made,
                   const ASTContext &Context) {
  if (const auto *A = Context.getAsConstantArrayType(Made))
    return int64_t(Context.getConstantArrayElementCount(A));
  if (!Made->isIncompleteArrayType())
    return 1;
  return C.getNumArgs() ? numberIn(C.getArg(0), Context) : 0;
}

/// Numbers that a variable or member is to lead to: how many there are is known
/// of what stands for them, if anything does.
void Body::makesRoom(const ValueDecl *Holder, const Expr &Value) {
  if (!Holder || !Holder->getType()->isPointerType())
    return;
  QualType Of = Holder->getType()->getPointeeType();
  const Expr *Made = Value.IgnoreParenCasts();
  if (const auto *Default = dyn_cast<CXXDefaultInitExpr>(Made))
    Made = Default->getExpr()->IgnoreParenCasts();
  if (Of->isRecordType() || !isAllocation(*Made, Context))
    return;
  AllocationFact A;
  if (const auto *N = dyn_cast<CXXNewExpr>(Made)) {
    A.Api = N->isArray() ? "new[]" : "new";
    A.Count = roomOf(*N, Context);
  } else {
    const auto *C = cast<CallExpr>(Made);
    A.Api = C->getDirectCallee()->getName().str();
    A.Count = roomOf(*C, *C->getDirectCallee(), Context, Of);
  }
  if (auto It = Allocated.find(Made); It != Allocated.end())
    A.Guarantee = Out.Allocations[It->second].Guarantee;
  Position P = Unit.position(Made->getExprLoc());
  A.File = P.File;
  A.Line = P.Line;
  A.Column = P.Column;
  A.LoopDepth = Here.Shape.LoopDepth;
  A.Order = Here.Shape.Order;
  Known.elements().Rooms.push_back({Out.Identity, Holder, std::move(A)});
}

} // namespace linemate
