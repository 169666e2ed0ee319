//===- PlainElements.cpp - Elements that are no records -------------------===//
//
// Owns what stands for the elements of memory that a variable or member leads
// to, where they are numbers: a record of one of them, which is named after
// what leads there.  Elements that are records stand for themselves.
//
//===----------------------------------------------------------------------===//

#include "Location.h"

#include "clang/AST/DeclTemplate.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;

namespace linemate {

namespace {

/// Do elements of neighbouring indexes lie side by side, out of the object?
bool isContiguous(const CXXRecordDecl &R) {
  return R.isInStdNamespace() && R.getIdentifier() &&
         llvm::StringSwitch<bool>(R.getName())
             .Cases("vector", "unique_ptr", "shared_ptr", true)
             .Cases("span", "deque", "valarray", true)
             .Default(false);
}

bool isStdAtomic(const CXXRecordDecl &R) {
  return R.isInStdNamespace() && R.getIdentifier() && R.getName() == "atomic";
}

/// No record of a source has such a name.
std::string nameOf(const ValueDecl &Holder) {
  const auto *V = dyn_cast<VarDecl>(&Holder);
  std::string Name = V && V->isLocalVarDeclOrParm()
                         ? Holder.getNameAsString()
                         : Holder.getQualifiedNameAsString();
  if (const auto *F = dyn_cast<FieldDecl>(&Holder))
    Name =
        F->getParent()->getQualifiedNameAsString() + "." + F->getNameAsString();
  return Name + "[]";
}

} // namespace

const ValueDecl *holderOf(const Expr *E) {
  E = E->IgnoreParenImpCasts();
  if (const auto *M = dyn_cast<MemberExpr>(E))
    return M->getMemberDecl();
  const auto *Ref = dyn_cast<DeclRefExpr>(E);
  const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
  if (!V || V->getTLSKind() != VarDecl::TLS_None)
    return nullptr;
  bool Shared = V->hasGlobalStorage() ||
                Ref->refersToEnclosingVariableOrCapture() ||
                V->getType()->isReferenceType();
  return Shared ? V : nullptr;
}

/// Is it some atomic of the library's, of which all that a program has are one
/// record?
bool isLibraryAtomic(const Location &P) {
  const auto *R = dyn_cast_or_null<CXXRecordDecl>(P.Record);
  return P.In == Location::Kind::Record && !P.Offset && R && isStdAtomic(*R);
}

/// An element at \p Index of numbers that \p Base leads to; only one that is
/// a thread's own or may be: of other indexes nothing follows for a line.
Location Locations::plainElement(const Expr *Base, const Expr *Index,
                                 QualType Element) {
  Location P;
  const ValueDecl *Holder = Known ? holderOf(Base) : nullptr;
  Element = Element.getNonReferenceType();
  const CXXRecordDecl *Class = Element->getAsCXXRecordDecl();
  bool Plain = Class ? isStdAtomic(*Class)
                     : Element->isArithmeticType() || Element->isAtomicType();
  if (!Holder || !Plain || Element.isConstQualified() ||
      Element->isDependentType() || Element->isIncompleteType())
    return P;
  QualType Of = Holder->getType().getNonReferenceType();
  if (const CXXRecordDecl *Container = Of->getAsCXXRecordDecl();
      Container ? !isContiguous(*Container)
                : !Of->isPointerType() && !Of->isArrayType())
    return P;
  const RecordDecl *&R = Known->Plain[Holder];
  if (!R)
    R = recordOf(*Holder, Element.getUnqualifiedType());
  P.In = Location::Kind::Record;
  P.Record = R;
  P = element(P, Index, Element);
  return P.Own || P.Given || P.Counted || P.Round ? P : Location();
}

const RecordDecl *Locations::recordOf(const ValueDecl &Holder,
                                      QualType Element) const {
  SourceLocation At = Holder.getLocation();
  RecordDecl *R = Context.buildImplicitRecord(nameOf(Holder));
  R->setLocation(At);
  R->setLocStart(At);
  R->startDefinition();
  FieldDecl *F = FieldDecl::Create(Context, R, At, At, nullptr, Element,
                                   /*TInfo=*/nullptr, /*BW=*/nullptr,
                                   /*Mutable=*/false, ICIS_NoInit);
  F->setAccess(AS_public);
  R->addDecl(F);
  R->completeDefinition();
  return R;
}

} // namespace linemate
