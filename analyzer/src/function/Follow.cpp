//===- Follow.cpp - Local pointers, parameters and accessors --------------===//
//
// Owns which place a local pointer or reference stands for, as the values that
// it ever gets agree on one, and what well-known accessors return.
//
//===----------------------------------------------------------------------===//

#include "Location.h"

#include "clang/AST/DeclTemplate.h"

using namespace clang;

namespace linemate {

namespace {

bool isNull(const Expr *E) {
  E = E->IgnoreParenCasts();
  if (const auto *I = dyn_cast<IntegerLiteral>(E))
    return I->getValue().isZero();
  return isa<CXXNullPtrLiteralExpr>(E) || isa<GNUNullExpr>(E) ||
         isa<ImplicitValueInitExpr>(E);
}

} // namespace

Location Locations::parameter(const ParmVarDecl &P) {
  Location Out;
  if (!P.getType()->isAnyPointerType() && !P.getType()->isReferenceType()) {
    Out.In = Location::Kind::Local;
    return Out;
  }
  QualType To = P.getType()->getPointeeType();
  // A capture, or the parameter of an enclosing function.
  if (P.getDeclContext() != Function) {
    const auto *Owner = dyn_cast<FunctionDecl>(P.getDeclContext());
    if (!Function || !Owner ||
        Owner->getCanonicalDecl() != Function->getCanonicalDecl())
      return Out;
  }
  const auto *Method = dyn_cast_or_null<CXXMethodDecl>(Function);
  Out.In = Location::Kind::Parameter;
  Out.Param =
      P.getFunctionScopeIndex() + (Method && Method->isInstance() ? 1 : 0);
  if (Out.Param >= MostParameters)
    return {};
  const RecordDecl *R = To->getAsRecordDecl();
  Out.Record = R ? R->getDefinition() : nullptr;
  return Out;
}

Location Locations::variable(const DeclRefExpr &Ref) {
  const ValueDecl *D = Ref.getDecl();
  if (const auto *B = dyn_cast<BindingDecl>(D)) {
    if (const VarDecl *Holder = B->getHoldingVar())
      return follow(*Holder, &Ref);
    return B->getBinding() ? object(B->getBinding()) : Location();
  }
  const auto *V = dyn_cast<VarDecl>(D);
  Location P;
  if (!V)
    return P;
  if (V->hasGlobalStorage()) {
    if (V->getType()->isReferenceType())
      return somewhere(Ref.getType(), &Ref);
    P.In = Location::Kind::Variable;
    P.Var = V;
    return P;
  }
  if (V->getType()->isReferenceType())
    return follow(*V, &Ref);
  if (isSharedCapture(Ref))
    return somewhere(Context.getBaseElementType(V->getType()), &Ref);
  P.In = Location::Kind::Local;
  return P;
}

/// Is it a local of another function that a thread of its own was handed by
/// reference, or the threads of a parallel region?  What a lambda captures that
/// is only called here is still in the frame of whoever runs it.
bool Locations::isSharedCapture(const DeclRefExpr &Ref) const {
  if (!Function && Locals && !Locals->Shared.empty())
    return Locals->Shared.contains(dyn_cast<VarDecl>(Ref.getDecl()));
  const auto *Method = dyn_cast_or_null<CXXMethodDecl>(Function);
  return Method && Known && Ref.refersToEnclosingVariableOrCapture() &&
         Method->getParent()->isLambda() &&
         Known->Started.contains(Method->getCanonicalDecl()) &&
         llvm::any_of(Method->getParent()->captures(), [&](const auto &C) {
           return C.capturesVariable() && C.getCapturedVar() == Ref.getDecl() &&
                  C.getCaptureKind() == LCK_ByRef;
         });
}

/// What a local pointer points to or a local reference is bound to.
Location Locations::follow(const VarDecl &V, const Expr *At) {
  QualType To = V.getType()->getPointeeType();
  auto [Slot, IsNew] = Followed.try_emplace(&V);
  if (IsNew) {
    Slot->second.In = Location::Kind::Itself;
    Location P;
    auto Known =
        Locals ? Locals->Locals.find(&V) : decltype(Locals->Locals.find(&V))();
    if (Locals && Known != Locals->Locals.end())
      P = merge(V, Known->second);
    else if (const auto *Param = dyn_cast<ParmVarDecl>(&V))
      P = parameter(*Param);
    if (P.In == Location::Kind::Itself) {
      Followed.erase(&V);
      return P;
    }
    Followed[&V] = P;
    Slot = Followed.find(&V);
  }
  Location P = Slot->second;
  if (P.In != Location::Kind::None && P.In != Location::Kind::Record)
    return P;
  // The variable itself tells records of unknown origin apart.
  Location Unknown = somewhere(To, At);
  if (P.In == Location::Kind::Record && Unknown.In == Location::Kind::Record &&
      P.Record != Unknown.Record && P.Offset) {
    P.Root = Unknown.Root; // a member of a larger record
    return P;
  }
  if (P.In == Location::Kind::Record && Unknown.In == Location::Kind::None) {
    P.Root = hash(At);
    return P;
  }
  Unknown.Indexed = P.Indexed;
  Unknown.Stride = P.Stride;
  Unknown.Walks = P.Walks;
  Unknown.Own = P.Own;
  Unknown.Given = P.Given;
  Unknown.Counted = P.Counted;
  Unknown.Round = P.Round;
  Unknown.Made = P.Made;
  return Unknown;
}

/// The one place that all values lead to, or none.
Location Locations::merge(const VarDecl &V, const LocalValues &L) {
  bool IsReference = V.getType()->isReferenceType();
  if (!IsReference && L.escapes())
    return {};
  bool Steps = L.Stepped;
  bool Several = false; // records that need not stand side by side
  bool Found = false;
  Location Out;
  auto Join = [&](const Location &P) {
    if (P.In == Location::Kind::Itself) {
      Steps |= P.Indexed; // a copy on the way of a list leads to no next one
      return true;
    }
    if (!Found) {
      Out = P;
      Found = true;
      return true;
    }
    if (!P.Made)
      Out.Made = nullptr;
    if (Out == P)
      return true;
    if (Out.In == Location::Kind::None || P.In != Out.In || P.Var != Out.Var ||
        P.Param != Out.Param || P.Record != Out.Record)
      return false;
    Out.Offset = std::min(Out.Offset, P.Offset);
    (Out.In == Location::Kind::Record ? Several : Steps) = true;
    return true;
  };
  if (const auto *Param = dyn_cast<ParmVarDecl>(&V))
    Join(parameter(*Param));
  for (const Expr *Value : L.Values) {
    if (isNull(Value))
      continue;
    Location P = IsReference ? object(Value) : pointee(Value);
    if (!Join(P))
      return {};
  }
  if (!Found && Steps) {
    Out.In = Location::Kind::Itself; // `next = it + 1`, of which `it` is asked
    Out.Indexed = true;
  }
  if ((Steps || Several) && Out.isReported() && !Out.Indexed) {
    Out.Indexed = true;
    Out.Walks = L.Stepped && !L.Leaps;
    Out.Stride = Steps ? sizeOf(V.getType()->getPointeeType()) : 0;
    Out.Root = unsigned(reinterpret_cast<uintptr_t>(&V) >> 3) | 1;
  }
  return Out;
}

/// Accessors of the standard library that lead into their object, and the
/// rest, of which only the type is known.
Location Locations::called(const CallExpr &Call, QualType Result) {
  const FunctionDecl *Callee = Call.getDirectCallee();
  const auto *Method = dyn_cast_or_null<CXXMethodDecl>(Callee);
  if (!Callee)
    return somewhere(Result, &Call);
  const IdentifierInfo *Name = Callee->getIdentifier();
  if (!Method && Callee->isInStdNamespace() && Call.getNumArgs() >= 1 && Name) {
    if (Name->isStr("move") || Name->isStr("forward") ||
        Name->isStr("as_const"))
      return object(Call.getArg(0));
    if (Name->isStr("addressof") || Name->isStr("launder"))
      return Name->isStr("addressof") ? object(Call.getArg(0))
                                      : pointee(Call.getArg(0));
    if ((Name->isStr("begin") || Name->isStr("data")) &&
        Call.getArg(0)->getType()->isArrayType())
      return object(Call.getArg(0));
  }
  if (Callee->getBuiltinID() && Call.getNumArgs() >= 1 && Name &&
      (Name->isStr("__builtin_assume_aligned") ||
       Name->isStr("__builtin_addressof") || Name->isStr("__builtin_launder")))
    return Name->isStr("__builtin_addressof") ? object(Call.getArg(0))
                                              : pointee(Call.getArg(0));
  bool Subscript = Callee->getOverloadedOperator() == OO_Subscript ||
                   (Name && Name->isStr("at"));
  // The object of an operator is an argument, that of a method is not.
  unsigned At = isa<CXXMemberCallExpr>(Call) ? 0 : 1;
  const Expr *Index =
      Subscript && Call.getNumArgs() > At ? Call.getArg(At) : nullptr;
  const auto *Of =
      Method ? dyn_cast<ClassTemplateSpecializationDecl>(Method->getParent())
             : nullptr;
  if (Of && Of->isInStdNamespace() && Of->getName() == "array") {
    const auto *Member = dyn_cast<CXXMemberCallExpr>(&Call);
    Location In = Member ? receiver(Member->getImplicitObjectArgument())
                         : object(Call.getArg(0));
    if (Index)
      return element(In, Index, Result);
    if (Name &&
        (Name->isStr("data") || Name->isStr("begin") || Name->isStr("front")))
      return In;
  }
  if (Index && Index->getType()->isIntegerType()) {
    const auto *Member = dyn_cast<CXXMemberCallExpr>(&Call);
    const Expr *Object =
        Member ? Member->getImplicitObjectArgument() : Call.getArg(0);
    if (Location P = plainElement(Object, Index, Result); P.isReported())
      return P;
  }
  GivenPlace Place = returned(*Callee);
  if (Place.Var) {
    Location There;
    There.In = Location::Kind::Variable;
    There.Var = Place.Var;
    There.Offset = Place.Offset;
    There.Indexed = Place.Stride != 0;
    There.Stride = Place.Stride;
    There.Own = There.Indexed && (Place.Own || isOwnPointer(&Call));
    There.Root = There.Indexed ? hash(&Call) : 0;
    return There;
  }
  if (Place.Parameter >= 0 && unsigned(Place.Parameter) < Call.getNumArgs()) {
    const Expr *Given = Call.getArg(unsigned(Place.Parameter));
    return Given->getType()->isAnyPointerType() ? pointee(Given)
                                                : object(Given);
  }
  Location P = somewhere(Result, &Call);
  if (!P.isReported())
    return P;
  if (Index && Index->getType()->isIntegerType())
    return element(P, Index, Result);
  if (Place.Stride) {
    P.Indexed = true;
    P.Own = Place.Own;
    P.Stride = Place.Stride;
  } else if (Subscript) {
    P.Indexed = true;
    P.Stride = sizeOf(Result);
  }
  return P;
}

} // namespace linemate
