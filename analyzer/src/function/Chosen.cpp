//===- Chosen.cpp - Which functions an expression may be ------------------===//
//
// Owns the way from a pointer to the values that it may have.  What a variable
// or a member is given by code of other units is not seen.
//
//===----------------------------------------------------------------------===//

#include "Chosen.h"

using namespace clang;

namespace linemate {

namespace {

constexpr unsigned MaxChosenDepth = 24;
/// Expressions for one argument: no program has so many kinds of threads.
constexpr unsigned MaxChosenLooked = 512;

/// Without casts and temporaries.
const Expr *plain(const Expr *E) {
  for (;;) {
    E = E->IgnoreParenCasts();
    if (const auto *Full = dyn_cast<FullExpr>(E))
      E = Full->getSubExpr();
    else if (const auto *Kept = dyn_cast<MaterializeTemporaryExpr>(E))
      E = Kept->getSubExpr();
    else if (const auto *Bound = dyn_cast<CXXBindTemporaryExpr>(E))
      E = Bound->getSubExpr();
    else if (const auto *List = dyn_cast<CXXStdInitializerListExpr>(E))
      E = List->getSubExpr();
    else
      return E;
  }
}

/// The one argument that a container or a copy is made from.
const Expr *madeFrom(const Expr *E) {
  const auto *Made = dyn_cast<CXXConstructExpr>(E);
  const CXXConstructorDecl *D = Made ? Made->getConstructor() : nullptr;
  if (!D || !Made->getNumArgs() ||
      !(D->isCopyOrMoveConstructor() || D->isInStdNamespace()))
    return nullptr;
  return Made->getArg(0);
}

/// Is it a method of a container or iterator that leads to an element?
bool isNamed(const CallExpr &C, llvm::ArrayRef<StringRef> Names) {
  const FunctionDecl *F = C.getDirectCallee();
  return F && F->getIdentifier() && llvm::is_contained(Names, F->getName());
}

} // namespace

llvm::ArrayRef<const FunctionDecl *> Chosen::of(const Expr *E) {
  Found.clear();
  Looked = 0;
  const auto *Ref = dyn_cast<DeclRefExpr>(E->IgnoreParens());
  Asked = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
  value(E);
  return Found.getArrayRef();
}

void Chosen::value(const Expr *E) {
  if (Depth >= MaxChosenDepth || ++Looked > MaxChosenLooked)
    return;
  ++Depth;
  E = plain(E);
  if (const auto *U = dyn_cast<UnaryOperator>(E);
      U && (U->getOpcode() == UO_AddrOf || U->getOpcode() == UO_Plus))
    E = plain(U->getSubExpr());
  const auto *Convert = dyn_cast<CXXMemberCallExpr>(E);
  if (const auto *Either = dyn_cast<AbstractConditionalOperator>(E)) {
    value(Either->getTrueExpr());
    value(Either->getFalseExpr());
  } else if (const auto *Ref = dyn_cast<DeclRefExpr>(E);
             Ref && isa<FunctionDecl>(Ref->getDecl())) {
    Found.insert(cast<FunctionDecl>(Ref->getDecl()));
  } else if (Convert &&
             isa_and_nonnull<CXXConversionDecl>(Convert->getMethodDecl())) {
    const CXXRecordDecl *R = Convert->getMethodDecl()->getParent();
    if (R->isLambda()) // as a pointer
      Found.insert(R->getLambdaCallOperator());
  } else {
    object(E, {});
  }
  --Depth;
}

Chosen::Step Chosen::element(const Expr *Index) const {
  Expr::EvalResult Result;
  if (Index && !Index->isValueDependent() &&
      Index->getType()->isIntegralOrEnumerationType() &&
      Index->EvaluateAsInt(Result, Context, Expr::SE_NoSideEffects) &&
      Result.Val.getInt().getActiveBits() <= 32)
    return {nullptr, Result.Val.getInt().getZExtValue()};
  return {};
}

/// What the part \p To of the object \p E may hold.
void Chosen::object(const Expr *E, Path To) {
  if (Depth >= MaxChosenDepth || ++Looked > MaxChosenLooked)
    return;
  ++Depth;
  E = plain(E);
  if (const auto *Ref = dyn_cast<DeclRefExpr>(E)) {
    const auto *Split = dyn_cast<BindingDecl>(Ref->getDecl());
    if (Split && Split->getBinding())
      object(Split->getBinding(), To);
    else if (const auto *V = dyn_cast<VarDecl>(Ref->getDecl()))
      variable(*V, To);
  } else if (const auto *M = dyn_cast<MemberExpr>(E)) {
    if (const auto *V = dyn_cast<VarDecl>(M->getMemberDecl())) {
      variable(*V, To);
    } else if (const auto *Field = dyn_cast<FieldDecl>(M->getMemberDecl())) {
      const bool IsWhole = To.empty();
      const size_t Before = Found.size();
      To.push_back({Field, std::nullopt});
      if (M->isArrow())
        pointee(M->getBase(), To);
      else
        object(M->getBase(), To);
      // Whose member it is, is not seen: what others of the type are given.
      if (auto Stored = Given.find(Field);
          IsWhole && Found.size() == Before && Stored != Given.end())
        for (const Expr *Value : Stored->second)
          value(Value);
    }
  } else if (const auto *A = dyn_cast<ArraySubscriptExpr>(E)) {
    const Expr *Base = A->getBase()->IgnoreParenImpCasts();
    if (Base->getType()->isArrayType()) {
      To.push_back(element(A->getIdx()));
      object(Base, To);
    } else {
      pointee(Base, To);
    }
  } else if (const auto *U = dyn_cast<UnaryOperator>(E)) {
    if (U->getOpcode() == UO_Deref)
      pointee(U->getSubExpr(), To);
  } else if (const auto *O = dyn_cast<CXXOperatorCallExpr>(E)) {
    if (O->getOperator() == OO_Star && O->getNumArgs() == 1) {
      pointee(O->getArg(0), To);
    } else if (O->getOperator() == OO_Subscript && O->getNumArgs() == 2) {
      To.push_back(element(O->getArg(1)));
      object(O->getArg(0), To);
    }
  } else if (const auto *C = dyn_cast<CXXMemberCallExpr>(E)) {
    if (isNamed(*C, {"at", "front", "back"})) {
      To.push_back(element(C->getNumArgs() ? C->getArg(0) : nullptr));
      object(C->getImplicitObjectArgument(), To);
    }
  } else if (const Expr *Source = madeFrom(E)) {
    object(Source, To);
  }
  --Depth;
}

/// What a local pointer ever gets; nothing where others may change it.
llvm::ArrayRef<const Expr *> Chosen::values(const VarDecl &V) const {
  auto Local = Seen.Locals.find(&V);
  if (Local == Seen.Locals.end())
    return {};
  // To be handed to a thread's constructor changes nothing.
  const LocalValues &L = Local->second;
  return L.Uses > L.Harmless + (&V == Asked) ? llvm::ArrayRef<const Expr *>()
                                             : L.Values;
}

/// What the part \p To of what \p E points to may hold.
void Chosen::pointee(const Expr *E, Path To) {
  if (Depth >= MaxChosenDepth || ++Looked > MaxChosenLooked)
    return;
  ++Depth;
  E = plain(E);
  if (E->getType()->isArrayType()) {
    To.push_back({});
    object(E, To);
  } else if (const auto *U = dyn_cast<UnaryOperator>(E)) {
    if (U->getOpcode() == UO_AddrOf)
      object(U->getSubExpr(), To);
    else if (U->isIncrementDecrementOp())
      pointee(U->getSubExpr(), To);
  } else if (const auto *B = dyn_cast<BinaryOperator>(E)) {
    if (B->isAdditiveOp())
      pointee(B->getLHS()->getType()->isIntegerType() ? B->getRHS()
                                                      : B->getLHS(),
              To);
  } else if (const auto *C = dyn_cast<CXXMemberCallExpr>(E)) {
    if (isNamed(*C, {"begin", "cbegin", "data"})) {
      To.push_back({});
      object(C->getImplicitObjectArgument(), To);
    }
  } else if (const auto *Call = dyn_cast<CallExpr>(E)) {
    if (isNamed(*Call, {"begin", "cbegin", "data"}) && Call->getNumArgs()) {
      To.push_back({});
      object(Call->getArg(0), To);
    }
  } else if (const auto *Ref = dyn_cast<DeclRefExpr>(E)) {
    const auto *V = dyn_cast<VarDecl>(Ref->getDecl());
    if (V && !V->hasGlobalStorage() && V->getType()->isAnyPointerType()) {
      for (const Expr *Value : values(*V))
        pointee(Value, To);
    } else if (V && V->getType()->isRecordType() && V->getInit()) {
      pointee(V->getInit(), To); // an iterator
    }
  } else if (const Expr *Source = madeFrom(E)) {
    pointee(Source, To);
  }
  --Depth;
}

void Chosen::variable(const VarDecl &V, Path To) {
  QualType T = V.getType();
  if (To.empty() && !V.hasGlobalStorage() &&
      (T->isAnyPointerType() || T->isMemberPointerType())) {
    for (const Expr *Value : values(V))
      value(Value);
    return;
  }
  const Expr *Initial = V.getAnyInitializer();
  if (!Initial || Initial->isValueDependent() || Initial->containsErrors())
    return;
  if (V.getType()->isReferenceType())
    object(Initial, To);
  else if (V.getType().isConstQualified() || !To.empty())
    part(Initial, To);
}

/// The part \p To of an initial value.
void Chosen::part(const Expr *Initial, Path To) {
  if (Depth >= MaxChosenDepth || ++Looked > MaxChosenLooked)
    return;
  ++Depth;
  Initial = plain(Initial);
  if (To.empty()) {
    value(Initial);
    --Depth;
    return;
  }
  const auto *List = dyn_cast<InitListExpr>(Initial);
  if (List && !List->isSemanticForm() && List->getSemanticForm())
    List = List->getSemanticForm();
  if (List && List->getType()->isArrayType()) {
    Step Into = To.pop_back_val();
    for (unsigned I = 0; I < List->getNumInits(); ++I)
      if (!Into.Field && (!Into.Index || *Into.Index == I))
        part(List->getInit(I), To);
  } else if (List && List->getType()->isRecordType()) {
    const auto *R = List->getType()->getAsRecordDecl();
    if (To.back().Field && To.back().Field->getParent() == R) {
      Step Into = To.pop_back_val();
      const auto *Class = dyn_cast<CXXRecordDecl>(R);
      if (unsigned At = Into.Field->getFieldIndex();
          !R->isUnion() && !(Class && Class->getNumBases()) &&
          At < List->getNumInits())
        part(List->getInit(At), To);
    } else if (!To.back().Field && List->getNumInits() == 1) {
      part(List->getInit(0), To); // the array within a std::array
    }
  } else if (const Expr *Source = madeFrom(Initial)) {
    part(Source, To);
  } else if (!List) {
    object(Initial, To); // a copy of another
  }
  --Depth;
}

} // namespace linemate
