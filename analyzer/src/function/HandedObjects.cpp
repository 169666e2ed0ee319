//===- HandedObjects.cpp - What a thread that an object starts is given ---===//
//
// Owns which of several objects a thread of an object of C++ is handed: another
// one at each start.  Which function it runs is Starts.cpp's.
//
//===----------------------------------------------------------------------===//

#include "Body.h"

#include "clang/AST/DeclTemplate.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;

namespace linemate {

namespace {

constexpr unsigned MaxLooksAtGiven = 8;

/// The record of an object, or what a pointer of the library that owns it has.
Handed handedAs(QualType T) {
  T = T.getNonReferenceType();
  bool Behind = T->isAnyPointerType();
  const auto *R = (Behind ? T->getPointeeType() : T)->getAsCXXRecordDecl();
  if (!R || !R->isInStdNamespace())
    return {R ? R->getDefinition() : nullptr, Behind};
  const auto *Of = dyn_cast<ClassTemplateSpecializationDecl>(R);
  if (Behind || !Of || Of->getName() != "unique_ptr")
    return {};
  QualType To = Of->getTemplateArgs()[0].getAsType();
  return {To->getAsCXXRecordDecl() ? To->getAsCXXRecordDecl()->getDefinition()
                                   : nullptr,
          true};
}

} // namespace

/// What leads to one of the elements of a container, another one each time: the
/// reference of a loop over all, an index, what was just added at the end.
Handed Body::oneOf(const Expr *E, unsigned Depth) {
  if (Depth > MaxLooksAtGiven)
    return {};
  E = E->IgnoreParenImpCasts();
  if (const auto *Kept = dyn_cast<MaterializeTemporaryExpr>(E))
    return oneOf(Kept->getSubExpr(), Depth + 1);
  if (const auto *Bound = dyn_cast<CXXBindTemporaryExpr>(E))
    return oneOf(Bound->getSubExpr(), Depth + 1);
  if (const auto *U = dyn_cast<UnaryOperator>(E);
      U && U->getOpcode() == UO_AddrOf)
    return oneOf(U->getSubExpr(), Depth + 1);
  if (const auto *C = dyn_cast<CallExpr>(E))
    if (Handed Found = oneOfCall(*C, Depth); Found.Record)
      return Found;
  if (const auto *Ref = dyn_cast<DeclRefExpr>(E)) {
    const auto *V = dyn_cast<VarDecl>(Ref->getDecl());
    if (V && V->isCXXForRangeDecl() &&
        (V->getType()->isReferenceType() || V->getType()->isAnyPointerType()))
      return handedAs(V->getType());
    auto Known = V ? Seen.Locals.find(V) : Seen.Locals.end();
    if (Known != Seen.Locals.end() && Known->second.Values.size() == 1 &&
        (V->getType()->isReferenceType() || !Known->second.escapes()) &&
        !Known->second.Stepped)
      return oneOf(Known->second.Values.front(), Depth + 1);
  }
  bool IsPointer = E->getType()->isAnyPointerType();
  if (!IsPointer && !E->isGLValue())
    return {};
  Location P = IsPointer ? At.pointee(E) : At.object(E);
  QualType T = IsPointer ? E->getType()->getPointeeType() : E->getType();
  if (P.In == Location::Kind::Local && onFrame(E))
    return handedAs(T);
  if (!P.Indexed || !P.Stride || T->isIncompleteType() ||
      P.Stride != Context.getTypeSizeInChars(T).getQuantity())
    return {};
  return handedAs(T);
}

Handed Body::oneOfCall(const CallExpr &C, unsigned Depth) {
  if (const auto *Op = dyn_cast<CXXOperatorCallExpr>(&C);
      Op && Op->getOperator() == OO_Star && Op->getNumArgs() == 1) {
    Handed Found = oneOf(Op->getArg(0), Depth + 1);
    return Found.Behind ? Found : Handed();
  }
  const FunctionDecl *F = C.getDirectCallee();
  const auto *Member = dyn_cast<CXXMemberCallExpr>(&C);
  if (!F || !F->getIdentifier() ||
      !(Member && Member->getRecordDecl()
            ? Member->getRecordDecl()->isInStdNamespace()
            : F->isInStdNamespace()))
    return {};
  StringRef Name = F->getName();
  if (Member && (Name == "emplace_back" || Name == "back") &&
      C.getType()->isRecordType())
    return handedAs(C.getType());
  if (Member && Name == "get")
    return oneOf(Member->getImplicitObjectArgument(), Depth + 1);
  if (!Member && C.getNumArgs() == 1 &&
      llvm::StringSwitch<bool>(Name)
          .Cases("ref", "cref", "addressof", "forward", true)
          .Default(false))
    return oneOf(C.getArg(0), Depth + 1);
  return {};
}

/// What a local variable of the function has that owns an object or points to
/// one.
Handed Body::byLocal(const Expr *E) const {
  for (unsigned Depth = 0; Depth < MaxLooksAtGiven; ++Depth) {
    E = E->IgnoreParenImpCasts();
    if (const auto *Kept = dyn_cast<MaterializeTemporaryExpr>(E))
      E = Kept->getSubExpr();
    else if (const auto *Bound = dyn_cast<CXXBindTemporaryExpr>(E))
      E = Bound->getSubExpr();
    else if (const auto *U = dyn_cast<UnaryOperator>(E))
      E = U->getSubExpr();
    else if (const auto *Made = dyn_cast<CXXConstructExpr>(E);
             Made && Made->getNumArgs() == 1)
      E = Made->getArg(0);
    else if (const auto *Op = dyn_cast<CXXOperatorCallExpr>(E);
             Op && Op->getNumArgs() == 1)
      E = Op->getArg(0);
    else if (const auto *Member = dyn_cast<CXXMemberCallExpr>(E);
             Member && !Member->getNumArgs())
      E = Member->getImplicitObjectArgument();
    else if (const auto *C = dyn_cast<CallExpr>(E);
             C && C->getNumArgs() == 1 && C->getDirectCallee() &&
             C->getDirectCallee()->isInStdNamespace())
      E = C->getArg(0);
    else
      break;
  }
  const auto *Ref = dyn_cast<DeclRefExpr>(E->IgnoreParenImpCasts());
  const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
  if (!V || !V->hasLocalStorage() || isa<ParmVarDecl>(V))
    return {};
  Handed Found = handedAs(V->getType());
  return Found.Behind ? Found : Handed();
}

/// The class of \p E, `this` of a method, if each of its objects has one
/// thread for whoever starts one there.
const CXXRecordDecl *Body::hasOneThread(const Expr *E) {
  const auto *This = dyn_cast<CXXThisExpr>(E->IgnoreParenImpCasts());
  const CXXRecordDecl *R =
      This ? This->getType()->getPointeeCXXRecordDecl() : nullptr;
  R = R ? R->getDefinition() : nullptr;
  if (!R || Here.Shape.LoopDepth)
    return nullptr;
  bool HasOne = false;
  for (const FieldDecl *F : R->fields()) {
    if (!keepsThreads(F->getType()))
      continue;
    const CXXRecordDecl *Kept = F->getType()->getAsCXXRecordDecl();
    if (!Kept || threadClass(Kept).empty())
      return nullptr; // several, or as many as others say
    HasOne = true;
  }
  return HasOne ? R : nullptr;
}

/// Starts from \p First on hand over one of several objects, as an argument, in
/// what a lambda captures or in a callable object that is made of it.
void Body::handed(size_t First, llvm::ArrayRef<const Expr *> Given) {
  llvm::SmallVector<const Expr *, 8> All(Given);
  for (const Expr *E : Given) {
    E = E->IgnoreImplicit();
    if (const auto *Cast = dyn_cast<CXXFunctionalCastExpr>(E))
      E = Cast->getSubExpr()->IgnoreImplicit();
    if (const auto *L = dyn_cast<LambdaExpr>(E))
      All.append(L->capture_init_begin(), L->capture_init_end());
    else if (const auto *C = dyn_cast<CXXConstructExpr>(E);
             C && !C->getConstructor()->isCopyOrMoveConstructor())
      All.append(C->arg_begin(), C->arg_end());
  }
  Handed Found, Local;
  for (const Expr *E : All) {
    if (E && !Found.Record)
      Found = oneOf(E);
    if (E && !Found.Record)
      if (const CXXRecordDecl *Class = hasOneThread(E))
        Found = {Class, true};
    if (E && !Local.Record)
      Local = byLocal(E);
  }
  for (StartFact &S : llvm::drop_begin(Out.Starts, First)) {
    if (Found.Record) {
      S.Element = Unit.record(*Found.Record);
      S.Behind = Found.Behind;
    } else if (Local.Record) {
      S.Local = Unit.record(*Local.Record);
    }
  }
}

} // namespace linemate
