//===- FunctionObjects.cpp - What a std::function holds -------------------===//
//
// Owns the places of functions that objects of the library hold: one for each
// signature, since who calls such an object may call whatever was put into one
// of its type, and nothing else.
//
//===----------------------------------------------------------------------===//

#include "Body.h"

#include "clang/AST/DeclTemplate.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;

namespace linemate {

namespace {

constexpr unsigned MaxContained = 3; ///< a map of pairs of them

/// The type of the functions that objects of a class hold; null of others.
QualType heldType(const CXXRecordDecl *R, unsigned Depth = 0) {
  const auto *Of = dyn_cast_or_null<ClassTemplateSpecializationDecl>(R);
  if (!Of || !Of->isInStdNamespace() || !Of->getIdentifier() ||
      Depth > MaxContained)
    return {};
  bool Holds = llvm::StringSwitch<bool>(Of->getName())
                   .Cases("function", "move_only_function", true)
                   .Case("copyable_function", true)
                   .Default(false);
  for (const TemplateArgument &Arg : Of->getTemplateArgs().asArray()) {
    if (Arg.getKind() != TemplateArgument::Type)
      continue;
    QualType T = Arg.getAsType();
    if (Holds)
      return T;
    if (QualType Inner = heldType(T->getAsCXXRecordDecl(), Depth + 1);
        !Inner.isNull())
      return Inner;
  }
  return {};
}

bool holdsOne(const CXXRecordDecl *R) {
  return !heldType(R, MaxContained).isNull();
}

/// The place of functions of a type, whatever else is said of their calls.
int64_t placeOf(UnitBuilder &Unit, QualType T) {
  const auto *F = T->getAs<FunctionProtoType>();
  if (!F)
    return -1;
  return Unit.functionSlot(Unit.context().getFunctionType(
      F->getReturnType(), F->getParamTypes(), {}));
}

} // namespace

/// A call of an object of a class of the library: the place, or -1.
int64_t Body::functionPlace(const CXXRecordDecl *R) const {
  if (!holdsOne(R))
    return -1;
  int64_t Slot = placeOf(Unit, heldType(R));
  return Slot < 0 ? -1 : -2 - Slot;
}

/// \p Arg is handed to a method or constructor of the library's \p R, which may
/// keep it.  What becomes of a function in other classes is not seen: it may be
/// in an object of its own signature.
void Body::heldFunction(const CXXRecordDecl *R, const Expr &Arg) {
  QualType Held = heldType(R);
  const CXXRecordDecl *Of =
      Arg.getType().getNonReferenceType()->getAsCXXRecordDecl();
  bool IsLambda = lambdaOf(&Arg);
  if (!IsLambda && (!holdsOne(R) || (Of && heldType(Of, MaxContained) == Held)))
    return;
  const FunctionDecl *F = callable(&Arg);
  if (!F &&
      Arg.isNullPointerConstant(Context, Expr::NPC_ValueDependentIsNotNull))
    return;
  if (int64_t Slot = Held.isNull() ? -1 : placeOf(Unit, Held); Slot >= 0)
    Unit.keeps(Slot, F ? Unit.symbol(*F) : -1);
  else if (F)
    if (int64_t Own = placeOf(Unit, F->getType()); Own >= 0)
      Unit.keeps(Own, Unit.symbol(*F));
}

} // namespace linemate
