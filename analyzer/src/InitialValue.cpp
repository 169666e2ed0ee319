//===- InitialValue.cpp - What an initialiser names, and its shape --------===//
//
// Owns two questions whose answers decide where a compiler puts a variable:
// which symbols its initial value holds, and whether Clang makes the value of
// another LLVM type than the variable.
//
//===----------------------------------------------------------------------===//

#include "Variables.h"

#include "clang/AST/ASTContext.h"
#include "clang/AST/Expr.h"
#include "clang/AST/RecordLayout.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "llvm/ADT/SmallSet.h"

using namespace clang;

namespace linemate {

namespace {

constexpr unsigned MaxDepth = 64;

/// Zeros at the end of an array that CodeGen's ConstantEmitter leaves out.
constexpr uint64_t LeftOut = 8;

class Names : public RecursiveASTVisitor<Names> {
public:
  Names(UnitBuilder &Unit, Rows &Out) : Unit(Unit), Out(Out) {}

  /// Only what the value is made of, not how it was written.
  bool TraverseInitListExpr(
      InitListExpr *List,
      DataRecursionQueue * = nullptr) { // NOLINT(readability-identifier-naming)
    InitListExpr *Semantic =
        List->isSemanticForm() ? List : List->getSemanticForm();
    for (Expr *Item : (Semantic ? Semantic : List)->inits())
      if (Item && !TraverseStmt(Item))
        return false;
    return true;
  }

  bool TraverseUnaryExprOrTypeTraitExpr(UnaryExprOrTypeTraitExpr *,
                                        DataRecursionQueue * = nullptr) {
    return true; // sizeof names nothing
  }

  bool VisitDeclRefExpr(DeclRefExpr *Reference) {
    const ValueDecl *D = Reference->getDecl();
    const auto *V = dyn_cast<VarDecl>(D);
    if (!isa<FunctionDecl>(D) && !(V && V->hasGlobalStorage()))
      return true;
    int64_t Symbol = Unit.symbol(*D);
    if (Symbol >= 0 && Seen.insert(Symbol).second)
      Out.push_back(Symbol);
    return true;
  }

private:
  UnitBuilder &Unit;
  Rows &Out;
  llvm::SmallSet<int64_t, 16> Seen;
};

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
  if (!List || Depth > MaxDepth)
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

Rows initialiserSymbols(UnitBuilder &Unit, const VarDecl &D) {
  Rows Out;
  const Expr *Init = D.getAnyInitializer();
  if (Init && !Init->containsErrors() && !Init->isValueDependent())
    Names(Unit, Out).TraverseStmt(const_cast<Expr *>(Init));
  return Out;
}

bool isReshaped(UnitBuilder &Unit, const VarDecl &D) {
  const Expr *Init = D.getAnyInitializer();
  return Init && !Init->containsErrors() && !Init->isValueDependent() &&
         changesType(Unit.context(), *Init, 0);
}

} // namespace linemate
