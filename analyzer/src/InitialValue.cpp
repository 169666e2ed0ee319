//===- InitialValue.cpp - Shape of the initial value of a variable
//---------===//
//
// Owns the question whether Clang makes an initial value of another LLVM type
// than the variable.
//
//===----------------------------------------------------------------------===//

#include "Variables.h"

#include "clang/AST/ASTContext.h"
#include "clang/AST/Expr.h"
#include "llvm/ADT/STLExtras.h"

using namespace clang;

namespace linemate {

namespace {

constexpr unsigned MaxListDepth = 64;

/// Zeros at the end of an array that CodeGen's ConstantEmitter leaves out.
constexpr uint64_t LeftOut = 8;

/// The member whose LLVM type a union has: the most aligned, of those the
/// largest, of those the first (CGRecordLowering::lowerUnion).
const FieldDecl *storageOf(ASTContext &Context, const RecordDecl &Union) {
  const FieldDecl *Best = nullptr;
  for (const FieldDecl *F : Union.fields()) {
    if (F->isBitField() || F->getType()->isIncompleteType())
      continue;
    if (!Best) {
      Best = F;
      continue;
    }
    CharUnits A = Context.getTypeAlignInChars(F->getType());
    CharUnits B = Context.getTypeAlignInChars(Best->getType());
    if (A > B || (A == B && Context.getTypeSizeInChars(F->getType()) >
                                Context.getTypeSizeInChars(Best->getType())))
      Best = F;
  }
  return Best;
}

bool changesType(ASTContext &Context, const Expr &E, unsigned Depth) {
  const auto *List = dyn_cast<InitListExpr>(E.IgnoreParens());
  if (!List || Depth > MaxListDepth)
    return false;
  QualType Type = List->getType();
  if (const auto *Array = Context.getAsConstantArrayType(Type)) {
    uint64_t Used = List->getNumInits();
    while (Used > 0 &&
           (!List->getInit(Used - 1) ||
            initKind(Context, *List->getInit(Used - 1)) == InitKind::Zero))
      --Used;
    if (Used > 0 && !List->isStringLiteralInit() &&
        Array->getZExtSize() - std::min(Used, Array->getZExtSize()) >= LeftOut)
      return true;
  } else if (const auto *Record = Type->getAsRecordDecl();
             Record && Record->isUnion()) {
    const FieldDecl *Chosen = List->getInitializedFieldInUnion();
    return Chosen && Chosen != storageOf(Context, *Record);
  } else if (Record && Record->hasFlexibleArrayMember()) {
    return true;
  }
  return llvm::any_of(List->inits(), [&](const Expr *Item) {
    return Item && changesType(Context, *Item, Depth + 1);
  });
}

} // namespace

bool isReshaped(UnitBuilder &Unit, const VarDecl &D) {
  const Expr *Init = D.getAnyInitializer();
  return Init && !Init->containsErrors() && !Init->isValueDependent() &&
         changesType(Unit.context(), *Init, 0);
}

} // namespace linemate
