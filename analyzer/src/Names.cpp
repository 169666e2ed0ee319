//===- Names.cpp - Which symbols code names, and in which order -----------===//
//
// Owns the walk.  Order is Clang's when it generates code (CGExpr*.cpp,
// CGStmt.cpp), with which GCC's gimplifier agrees but for the conditions of
// loops.
//
//===----------------------------------------------------------------------===//

#include "Names.h"

#include "clang/AST/DeclCXX.h"
#include "clang/AST/Expr.h"
#include "clang/AST/ExprCXX.h"
#include "clang/AST/RecursiveASTVisitor.h"
#include "llvm/ADT/DenseSet.h"

using namespace clang;

namespace linemate {

namespace {

class Names : public RecursiveASTVisitor<Names> {
  using Base = RecursiveASTVisitor<Names>;

public:
  Names(UnitBuilder &Unit, Rows &Out) : Unit(Unit), Out(Out) {}

  // NOLINTBEGIN(readability-identifier-naming): names that the base calls.
  bool shouldVisitTemplateInstantiations() const { return false; }
  bool shouldVisitImplicitCode() const { return true; }

  /// Scalars are stored once the value is there; classes are built in place.
  bool TraverseBinaryOperator(BinaryOperator *E,
                              DataRecursionQueue *Queue = nullptr) {
    if (!E->isAssignmentOp() || E->getType()->isRecordType())
      return Base::TraverseBinaryOperator(E, Queue);
    return TraverseStmt(E->getRHS()) && TraverseStmt(E->getLHS());
  }
  bool TraverseCompoundAssignOperator(CompoundAssignOperator *E,
                                      DataRecursionQueue * = nullptr) {
    return TraverseStmt(E->getRHS()) && TraverseStmt(E->getLHS());
  }

  bool TraverseForStmt(ForStmt *S, DataRecursionQueue * = nullptr) {
    return TraverseStmt(S->getInit()) && TraverseStmt(S->getCond()) &&
           TraverseStmt(S->getBody()) && TraverseStmt(S->getInc());
  }

  /// Only what the value is made of, not how it was written.
  bool TraverseInitListExpr(InitListExpr *List,
                            DataRecursionQueue * = nullptr) {
    InitListExpr *Semantic =
        List->isSemanticForm() ? List : List->getSemanticForm();
    for (Expr *Item : (Semantic ? Semantic : List)->inits())
      if (Item && !TraverseStmt(Item))
        return false;
    return true;
  }

  // Nothing is evaluated in these.
  bool TraverseUnaryExprOrTypeTraitExpr(UnaryExprOrTypeTraitExpr *,
                                        DataRecursionQueue * = nullptr) {
    return true;
  }
  bool TraverseCXXNoexceptExpr(CXXNoexceptExpr *,
                               DataRecursionQueue * = nullptr) {
    return true;
  }
  bool TraverseTypeLoc(TypeLoc) { return true; }
  bool TraverseGenericSelectionExpr(GenericSelectionExpr *E,
                                    DataRecursionQueue * = nullptr) {
    return E->isResultDependent() || TraverseStmt(E->getResultExpr());
  }
  bool TraverseChooseExpr(ChooseExpr *E, DataRecursionQueue * = nullptr) {
    return E->isConditionDependent() || TraverseStmt(E->getChosenSubExpr());
  }

  /// A lambda's body is another function.
  bool TraverseLambdaExpr(LambdaExpr *E, DataRecursionQueue * = nullptr) {
    for (Expr *Captured : E->capture_inits())
      if (Captured && !TraverseStmt(Captured))
        return false;
    name(E->getCallOperator());
    return true;
  }
  bool TraverseCXXRecordDecl(CXXRecordDecl *) { return true; }
  bool TraverseFunctionDecl(FunctionDecl *) { return true; }

  bool VisitDeclRefExpr(DeclRefExpr *E) { return name(E->getDecl()); }
  bool VisitMemberExpr(MemberExpr *E) { return name(E->getMemberDecl()); }
  bool VisitCXXConstructExpr(CXXConstructExpr *E) {
    return name(E->getConstructor());
  }
  bool VisitVarDecl(VarDecl *D) {
    if (int64_t Symbol = D->isStaticLocal() ? Unit.symbol(*D) : -1; Symbol >= 0)
      Out.push_back(Symbol);
    return true;
  }
  // NOLINTEND(readability-identifier-naming)

  void constructor(const CXXConstructorDecl &C) {
    for (const CXXCtorInitializer *I : C.inits())
      TraverseStmt(I->getInit());
  }

private:
  bool name(const ValueDecl *D) {
    const auto *V = dyn_cast<VarDecl>(D);
    if (!isa<FunctionDecl>(D) && !(V && V->hasGlobalStorage()))
      return true;
    int64_t Symbol = Unit.symbol(*D);
    if (Symbol >= 0 && Seen.insert(Symbol).second)
      Out.push_back(Symbol);
    return true;
  }

  UnitBuilder &Unit;
  Rows &Out;
  llvm::DenseSet<int64_t> Seen;
};

} // namespace

Rows namedByFunction(UnitBuilder &Unit, const FunctionDecl &F) {
  Rows Out;
  Names Walk(Unit, Out);
  if (const auto *C = dyn_cast<CXXConstructorDecl>(&F))
    Walk.constructor(*C);
  if (F.hasBody())
    Walk.TraverseStmt(F.getBody());
  return Out;
}

Rows namedByInitialiser(UnitBuilder &Unit, const VarDecl &D) {
  Rows Out;
  const Expr *Init = D.getAnyInitializer();
  if (Init && !Init->containsErrors() && !Init->isValueDependent())
    Names(Unit, Out).TraverseStmt(const_cast<Expr *>(Init));
  return Out;
}

} // namespace linemate
