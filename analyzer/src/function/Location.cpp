//===- Location.cpp - What an expression designates -----------------------===//
//
// Owns variables, members, elements and pointer arithmetic.  Local pointers
// are followed in Follow.cpp.
//
//===----------------------------------------------------------------------===//

#include "Location.h"

#include "IndexSteps.h"

#include "clang/AST/RecordLayout.h"
#include "llvm/ADT/FoldingSet.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Support/MathExtras.h"

#include <optional>

using namespace clang;

namespace linemate {

namespace {

bool isWithin(int64_t Bytes) { return Bytes < MostBytes && Bytes > -MostBytes; }

bool hasLayout(const RecordDecl &R) {
  return !R.isInvalidDecl() && R.isCompleteDefinition() && !R.isDependentType();
}

/// Bytes from the start of \p Derived to the base class at the end of \p C's
/// path; none through virtual bases.
std::optional<int64_t> baseOffset(const ASTContext &Context,
                                  const CXXRecordDecl *Derived,
                                  const CastExpr &C) {
  int64_t Bytes = 0;
  for (const CXXBaseSpecifier *Step : C.path()) {
    const CXXRecordDecl *Base = Step->getType()->getAsCXXRecordDecl();
    if (!Derived || !Base || Step->isVirtual() || !hasLayout(*Derived))
      return std::nullopt;
    Bytes += Context.getASTRecordLayout(Derived)
                 .getBaseClassOffset(Base->getDefinition())
                 .getQuantity();
    if (!isWithin(Bytes))
      return std::nullopt;
    Derived = Base->getDefinition();
  }
  return Bytes;
}

/// \p P, or none where no object reaches that far.
Location within(Location P) {
  return isWithin(P.Offset) && isWithin(P.Stride) ? P : Location();
}

/// Of \p Count elements; what \ref within refuses where there is no such array.
int64_t bytesOf(int64_t Count, int64_t Size) {
  int64_t Bytes = 0;
  return !llvm::MulOverflow(Count, Size, Bytes) && isWithin(Bytes) ? Bytes
                                                                   : MostBytes;
}

} // namespace

Location nested(Location Outer, const Location &Inner) {
  Outer.Offset += Inner.Offset;
  if (Inner.Indexed && !Outer.Indexed) {
    Outer.Indexed = true;
    Outer.Walks = Inner.Walks;
    Outer.Own = Inner.Own;
    Outer.Given = Inner.Given;
    Outer.Counted = Inner.Counted;
    Outer.Round = Inner.Round;
    Outer.Stride = Inner.Stride;
    if (Outer.In != Location::Kind::Record)
      Outer.Root = Inner.Root;
  }
  Outer.BitField = Inner.BitField;
  return within(Outer);
}

bool isOtherInstance(const Location &A, const Location &B) {
  if (A.In != B.In || A.Root == B.Root)
    return false;
  if (A.In == Location::Kind::Record)
    return A.Record == B.Record;
  return A.Indexed && B.Indexed && A.Stride == B.Stride && A.Var == B.Var &&
         A.Param == B.Param;
}

int64_t Locations::sizeOf(QualType T) const {
  T = T.getNonReferenceType();
  if (T->isDependentType() || T->isIncompleteType() || T->isFunctionType() ||
      T->isVariableArrayType() || T->isVoidType() || T->isPlaceholderType())
    return 0;
  if (const auto *R = T->getAsRecordDecl(); R && R->isInvalidDecl())
    return 0;
  int64_t Bytes = Context.getTypeSizeInChars(T).getQuantity();
  return isWithin(Bytes) ? Bytes : 0;
}

unsigned Locations::hash(const Expr *E) const {
  E = E->IgnoreParenCasts();
  llvm::FoldingSetNodeID ID;
  E->Profile(ID, Context, /*Canonical=*/true);
  return ID.ComputeHash() | 1;
}

/// What makes the object to which the owner in \p E leads: a local one of the
/// library that owns nothing else.
const Expr *Locations::ownedBehind(const Expr *E) const {
  const auto *C = Locals ? dyn_cast<CallExpr>(E) : nullptr;
  const auto *Operator = dyn_cast_or_null<CXXOperatorCallExpr>(C);
  const auto *Member = dyn_cast_or_null<CXXMemberCallExpr>(C);
  const FunctionDecl *F = C ? C->getDirectCallee() : nullptr;
  const Expr *Owner = nullptr;
  if (Operator && Operator->getNumArgs() == 1)
    Owner = Operator->getArg(0);
  else if (Member && F && F->getIdentifier() && F->getName() == "get")
    Owner = Member->getImplicitObjectArgument();
  const auto *Ref =
      Owner ? dyn_cast<DeclRefExpr>(Owner->IgnoreParenImpCasts()) : nullptr;
  const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
  return V && !Locals->Rebound.contains(V) ? Locals->Owners.lookup(V) : nullptr;
}

/// A record that \p Pointer leads to, and of which no more is known.
Location Locations::somewhere(QualType T, const Expr *Pointer) {
  Location P;
  const RecordDecl *R = T.isNull() ? nullptr : T->getAsRecordDecl();
  R = R ? R->getDefinition() : nullptr;
  if (!R || !hasLayout(*R))
    return P;
  P.In = Location::Kind::Record;
  P.Record = R;
  P.Root = hash(Pointer);
  const Expr *Plain = Pointer->IgnoreParenCasts();
  P.Made = isAllocation(*Plain, Context) ? Plain : ownedBehind(Plain);
  P.Own = isOwnPointer(Plain);
  return P;
}

Location Locations::object(const Expr *E) {
  if (Depth > MaxLocationDepth)
    return {};
  ++Depth;
  Location P = objectOf(E);
  --Depth;
  return within(P);
}

Location Locations::pointee(const Expr *E) {
  if (Depth > MaxLocationDepth)
    return {};
  ++Depth;
  Location P = pointeeOf(E);
  --Depth;
  return within(P);
}

Location Locations::receiver(const Expr *E) {
  return E->getType()->isAnyPointerType() ? pointee(E) : object(E);
}

Location Locations::base(const CXXRecordDecl &Of, const CXXRecordDecl &Base) {
  Location P;
  const CXXRecordDecl *Whole = Of.getDefinition();
  const CXXRecordDecl *Part = Base.getDefinition();
  if (!Whole || !Part || !hasLayout(*Whole))
    return P;
  P.In = Location::Kind::Parameter;
  P.Record = Whole;
  if (Whole == Part)
    return P;
  for (const CXXBaseSpecifier &Step : Whole->bases())
    if (const CXXRecordDecl *R = Step.getType()->getAsCXXRecordDecl();
        R && R->getDefinition() == Part && !Step.isVirtual()) {
      P.Offset = Context.getASTRecordLayout(Whole)
                     .getBaseClassOffset(Part)
                     .getQuantity();
      return within(P);
    }
  return {};
}

Location Locations::member(Location In, const FieldDecl &Field) {
  const RecordDecl *R = Field.getParent();
  if (!In.isReported() || !hasLayout(*R) || Field.isInvalidDecl())
    return In.In == Location::Kind::Local ? In : Location();
  uint64_t Bits =
      Context.getASTRecordLayout(R).getFieldOffset(Field.getFieldIndex());
  In.Offset += int64_t(Bits / Context.getCharWidth());
  In.BitField = Field.isBitField();
  return within(In);
}

/// In a constructor: what a pointer or reference of the object starts as.
const Expr *Locations::initial(const MemberExpr &M,
                               const FieldDecl &Field) const {
  if (!Locals || Locals->Fields.empty() ||
      !isa<CXXThisExpr>(M.getBase()->IgnoreParenImpCasts()))
    return nullptr;
  return Locals->Fields.lookup(&Field);
}

Location Locations::element(Location In, const Expr *Index, QualType Element,
                            bool Subtract) {
  if (!In.isReported()) {
    In.Indexed |= In.In == Location::Kind::Itself;
    return In;
  }
  int64_t Size = sizeOf(Element);
  if (auto Constant = constantOf(Index, Context)) {
    // Of records of unknown origin every element is as good as the first.
    if (In.In != Location::Kind::Record || In.Offset)
      In.Offset += (Subtract ? -1 : 1) * bytesOf(*Constant, Size);
    return In;
  }
  // The outermost array is what threads share out, unless an inner one has an
  // element for each.
  IndexOrigin Origin = walks(Index) ? IndexOrigin::Walks : originOf(Index);
  if (In.Indexed && (In.Own || Origin != IndexOrigin::OwnThread))
    return In;
  // An array within an object of the running thread is shared out among nobody.
  if (In.In == Location::Kind::Record && In.Own && !In.Indexed &&
      Origin != IndexOrigin::OwnThread &&
      !Context.hasSameUnqualifiedType(Element,
                                      Context.getRecordType(In.Record)))
    return In;
  In.Indexed = true;
  Steps S = stepsOf(Index, Context);
  In.Stride = bytesOf(S.Factor, Size);
  if (!Subtract && S.Sum > 0 && S.Sum < S.Factor &&
      In.In != Location::Kind::Record)
    In.Offset += bytesOf(S.Sum, Size);
  In.Walks = Origin == IndexOrigin::Walks;
  In.Own = Origin == IndexOrigin::OwnThread;
  In.Given = Origin == IndexOrigin::Given;
  In.Counted = Origin == IndexOrigin::Counted;
  In.Round = Origin == IndexOrigin::Round;
  if (In.In != Location::Kind::Record)
    In.Root = hash(Index);
  return In;
}

/// Does a local that the index is made from change by what it was before?
bool Locations::walks(const Expr *Index) const {
  if (!Locals || Locals->Numbers.empty())
    return false;
  llvm::SmallVector<const Stmt *, 16> Work{Index};
  llvm::SmallPtrSet<const VarDecl *, 4> Seen;
  for (unsigned Looked = 0; !Work.empty() && Looked < MaxLocationDepth;
       ++Looked) {
    const Stmt *S = Work.pop_back_val();
    if (const auto *Ref = dyn_cast<DeclRefExpr>(S)) {
      const auto *V = dyn_cast<VarDecl>(Ref->getDecl());
      auto Known = V ? Locals->Numbers.find(V) : Locals->Numbers.end();
      if (Known == Locals->Numbers.end() || Locals->Rounds.contains(V) ||
          !Seen.insert(V).second)
        continue;
      if (Known->second.Counts)
        return true;
      Work.append(Known->second.Values.begin(), Known->second.Values.end());
    }
    for (const Stmt *Child : S->children())
      if (Child)
        Work.push_back(Child);
  }
  return false;
}

Location Locations::objectOf(const Expr *E) {
  E = E->IgnoreParens();
  switch (E->getStmtClass()) {
  case Stmt::DeclRefExprClass:
    return variable(*llvm::cast<DeclRefExpr>(E));
  case Stmt::MemberExprClass: {
    const auto *M = llvm::cast<MemberExpr>(E);
    if (const auto *V = dyn_cast<VarDecl>(M->getMemberDecl())) {
      Location P; // a static data member
      P.In = Location::Kind::Variable;
      P.Var = V;
      return V->getType()->isReferenceType() ? somewhere(M->getType(), E) : P;
    }
    const auto *Field = dyn_cast<FieldDecl>(M->getMemberDecl());
    if (!Field)
      return {};
    if (Field->getType()->isReferenceType()) {
      const Expr *Start = initial(*M, *Field);
      return Start ? object(Start)
                   : somewhere(Field->getType()->getPointeeType(), E);
    }
    Location In = M->isArrow() ? pointee(M->getBase()) : object(M->getBase());
    return member(In, *Field);
  }
  case Stmt::ArraySubscriptExprClass: {
    const auto *A = llvm::cast<ArraySubscriptExpr>(E);
    Location In = pointee(A->getBase());
    if (In.In == Location::Kind::None || isLibraryAtomic(In)) {
      Location P = plainElement(A->getBase(), A->getIdx(), A->getType());
      if (P.isReported() || !In.isReported())
        return P;
    }
    return element(In, A->getIdx(), A->getType());
  }
  case Stmt::UnaryOperatorClass: {
    const auto *U = llvm::cast<UnaryOperator>(E);
    if (U->getOpcode() == UO_Deref)
      return pointee(U->getSubExpr());
    if (U->isPrefix() || U->getOpcode() == UO_Extension ||
        U->getOpcode() == UO_Real)
      return object(U->getSubExpr());
    return {};
  }
  case Stmt::BinaryOperatorClass:
  case Stmt::CompoundAssignOperatorClass: {
    const auto *B = llvm::cast<BinaryOperator>(E);
    if (B->getOpcode() == BO_Comma)
      return object(B->getRHS());
    return B->isAssignmentOp() ? object(B->getLHS()) : Location();
  }
  case Stmt::ConditionalOperatorClass: {
    const auto *C = llvm::cast<ConditionalOperator>(E);
    Location A = object(C->getTrueExpr());
    return A == object(C->getFalseExpr()) ? A : Location();
  }
  case Stmt::CXXThisExprClass:
    return pointee(E);
  case Stmt::OpaqueValueExprClass:
    if (const Expr *Source = llvm::cast<OpaqueValueExpr>(E)->getSourceExpr())
      return object(Source);
    return {};
  case Stmt::CallExprClass:
  case Stmt::CXXMemberCallExprClass:
  case Stmt::CXXOperatorCallExprClass:
    if (E->isLValue() || E->isXValue())
      return called(*llvm::cast<CallExpr>(E), E->getType());
    return {};
  case Stmt::ExprWithCleanupsClass:
  case Stmt::ConstantExprClass:
    return object(llvm::cast<FullExpr>(E)->getSubExpr());
  case Stmt::SubstNonTypeTemplateParmExprClass:
    return object(
        llvm::cast<SubstNonTypeTemplateParmExpr>(E)->getReplacement());
  case Stmt::MaterializeTemporaryExprClass:
  case Stmt::CompoundLiteralExprClass: {
    Location P;
    P.In = Location::Kind::Local;
    return P;
  }
  default:
    if (const auto *C = dyn_cast<CastExpr>(E))
      return cast(*C, object(C->getSubExpr()), E->getType());
    return {};
  }
}

/// Where a pointer points that is moved along an array.
Location Locations::stepped(const Expr *Pointer, QualType To) {
  const auto *Ref = dyn_cast<DeclRefExpr>(Pointer->IgnoreParens());
  const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
  if (V && !V->hasGlobalStorage() && !V->getType()->isReferenceType())
    return follow(*V, Pointer);
  return somewhere(To, Pointer);
}

Location Locations::pointeeOf(const Expr *E) {
  E = E->IgnoreParens();
  QualType To = E->getType()->getPointeeType();
  switch (E->getStmtClass()) {
  case Stmt::CXXThisExprClass: {
    const auto *Method = dyn_cast_or_null<CXXMethodDecl>(Function);
    Location P = somewhere(To, E);
    // In a lambda, `this` is captured.
    if (P.In == Location::Kind::Record && !Method)
      P.In = Location::Kind::Parameter; // an initialiser or an attribute
    else if (P.In == Location::Kind::Record &&
             Method->getParent()->getCanonicalDecl() ==
                 To->getAsCXXRecordDecl()->getCanonicalDecl())
      P.In = Location::Kind::Parameter;
    if (P.In == Location::Kind::Parameter)
      P.Root = 0;
    return P;
  }
  case Stmt::UnaryOperatorClass: {
    const auto *U = llvm::cast<UnaryOperator>(E);
    if (U->getOpcode() == UO_AddrOf)
      return object(U->getSubExpr());
    if (U->getOpcode() == UO_Extension)
      return pointee(U->getSubExpr());
    if (U->isIncrementDecrementOp()) {
      return stepped(U->getSubExpr(), To);
    }
    break;
  }
  case Stmt::BinaryOperatorClass:
  case Stmt::CompoundAssignOperatorClass: {
    const auto *B = llvm::cast<BinaryOperator>(E);
    if (B->getOpcode() == BO_Comma || B->getOpcode() == BO_Assign)
      return pointee(B->getRHS());
    bool Subtract = B->getOpcode() == BO_Sub || B->getOpcode() == BO_SubAssign;
    if (B->isAssignmentOp())
      return stepped(B->getLHS(), To);
    if (!B->isAdditiveOp())
      break;
    bool Left = B->getLHS()->getType()->isAnyPointerType();
    return element(pointee(Left ? B->getLHS() : B->getRHS()),
                   Left ? B->getRHS() : B->getLHS(), To, Subtract);
  }
  case Stmt::ConditionalOperatorClass: {
    const auto *C = llvm::cast<ConditionalOperator>(E);
    Location A = pointee(C->getTrueExpr());
    return A == pointee(C->getFalseExpr()) ? A : somewhere(To, E);
  }
  case Stmt::OpaqueValueExprClass:
    if (const Expr *Source = llvm::cast<OpaqueValueExpr>(E)->getSourceExpr())
      return pointee(Source);
    break;
  case Stmt::CallExprClass:
  case Stmt::CXXMemberCallExprClass:
  case Stmt::CXXOperatorCallExprClass:
    return called(*llvm::cast<CallExpr>(E), To);
  case Stmt::ExprWithCleanupsClass:
  case Stmt::ConstantExprClass:
    return pointee(llvm::cast<FullExpr>(E)->getSubExpr());
  case Stmt::CXXBindTemporaryExprClass:
    return pointee(llvm::cast<CXXBindTemporaryExpr>(E)->getSubExpr());
  case Stmt::MaterializeTemporaryExprClass:
    return pointee(llvm::cast<MaterializeTemporaryExpr>(E)->getSubExpr());
  case Stmt::StmtExprClass: {
    const CompoundStmt *Body = llvm::cast<StmtExpr>(E)->getSubStmt();
    if (const auto *Last =
            Body->body_empty() ? nullptr : dyn_cast<Expr>(Body->body_back()))
      return pointee(Last);
    break;
  }
  default:
    break;
  }
  if (const auto *C = dyn_cast<CastExpr>(E)) {
    const Expr *Sub = C->getSubExpr();
    switch (C->getCastKind()) {
    case CK_ArrayToPointerDecay:
      return object(Sub);
    case CK_LValueToRValue: {
      const auto *Ref = dyn_cast<DeclRefExpr>(Sub->IgnoreParens());
      const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
      if (V && !V->getType()->isReferenceType() && !V->hasGlobalStorage())
        return follow(*V, Sub);
      const auto *M = dyn_cast<MemberExpr>(Sub->IgnoreParens());
      const auto *F = M ? dyn_cast<FieldDecl>(M->getMemberDecl()) : nullptr;
      if (const Expr *Start = F ? initial(*M, *F) : nullptr)
        return pointee(Start);
      break;
    }
    case CK_NullToPointer:
      return {};
    default:
      if (Sub->getType()->isAnyPointerType())
        return cast(*C, pointee(Sub), To);
      break;
    }
  }
  return somewhere(To, E);
}

/// What stays of \p In when the pointer or lvalue to it is cast to \p To.
Location Locations::cast(const CastExpr &C, Location In, QualType To) {
  if (C.getCastKind() == CK_DerivedToBase ||
      C.getCastKind() == CK_UncheckedDerivedToBase) {
    QualType From = C.getSubExpr()->getType();
    if (From->isAnyPointerType())
      From = From->getPointeeType();
    auto Bytes = baseOffset(Context, From->getAsCXXRecordDecl(), C);
    if (!Bytes)
      return In.isReported() ? somewhere(To, C.getSubExpr()) : In;
    In.Offset += *Bytes;
    return In;
  }
  const RecordDecl *R = To->getAsRecordDecl();
  R = R ? R->getDefinition() : nullptr;
  if (C.getCastKind() == CK_NoOp || C.getCastKind() == CK_LValueToRValue)
    return In;
  if (!R || !hasLayout(*R) || In.In == Location::Kind::Variable ||
      In.In == Location::Kind::Local || In.Record == R)
    return In;
  // container_of, a downcast, or an untyped pointer.
  if (In.In == Location::Kind::Parameter && !In.Offset && !In.Indexed) {
    In.Record = R;
    return In;
  }
  if (In.In == Location::Kind::Itself)
    return In;
  return somewhere(To, C.getSubExpr());
}

} // namespace linemate
