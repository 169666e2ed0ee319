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
#include "clang/AST/StmtOpenMP.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/PointerUnion.h"

using namespace clang;

namespace linemate {

namespace {

/// A list of what is still to be visited takes the place of recursion: an
/// expression may be as deep as its source is long.
class Names {
public:
  Names(UnitBuilder &Unit, Rows &Out) : Unit(Unit), Out(Out) {}

  void visit(Stmt *Code) {
    follow({Code});
    while (!Ahead.empty()) {
      Item Next = Ahead.pop_back_val();
      if (auto *S = dyn_cast<Stmt *>(Next))
        statement(S);
      else
        declaration(cast<Decl *>(Next));
    }
  }

private:
  using Item = llvm::PointerUnion<Stmt *, Decl *>;
  using Items = llvm::SmallVector<Item, 8>;

  /// Visits these next, in their order, those that there are.
  void follow(llvm::ArrayRef<Item> Then) {
    for (Item Next : llvm::reverse(Then))
      if (!Next.isNull())
        Ahead.push_back(Next);
  }
  void followChildren(Stmt *S) {
    Items Then(S->child_begin(), S->child_end());
    follow(Then);
  }

  void statement(Stmt *S) {
    // Nothing is evaluated in these.
    if (isa<UnaryExprOrTypeTraitExpr, CXXNoexceptExpr>(S))
      return;
    if (auto *E = dyn_cast<BinaryOperator>(S); E && storesLast(*E))
      return follow({E->getRHS(), E->getLHS()});
    if (auto *For = dyn_cast<ForStmt>(S))
      return follow({For->getInit(), For->getConditionVariableDeclStmt(),
                     For->getCond(), For->getBody(), For->getInc()});
    if (auto *E = dyn_cast<GenericSelectionExpr>(S))
      return follow({E->isResultDependent() ? nullptr : E->getResultExpr()});
    if (auto *E = dyn_cast<ChooseExpr>(S))
      return follow(
          {E->isConditionDependent() ? nullptr : E->getChosenSubExpr()});
    if (auto *List = dyn_cast<InitListExpr>(S))
      return followChildren(semantic(List));
    if (auto *E = dyn_cast<PseudoObjectExpr>(S))
      return semantics(*E);
    if (auto *Declared = dyn_cast<DeclStmt>(S))
      return variables(*Declared);
    if (auto *E = dyn_cast<LambdaExpr>(S))
      return lambda(*E);

    if (auto *E = dyn_cast<DeclRefExpr>(S))
      name(E->getDecl());
    else if (auto *E = dyn_cast<MemberExpr>(S))
      name(E->getMemberDecl());
    else if (auto *E = dyn_cast<CXXConstructExpr>(S))
      name(E->getConstructor());
    followChildren(S);
    followHidden(S);
  }

  /// Scalars are stored once the value is there; classes are built in place.
  static bool storesLast(const BinaryOperator &E) {
    return E.isCompoundAssignmentOp() ||
           (E.isAssignmentOp() && !E.getType()->isRecordType());
  }

  /// Only what the value is made of, not how it was written.
  static InitListExpr *semantic(InitListExpr *List) {
    InitListExpr *Semantic =
        List->isSemanticForm() ? List : List->getSemanticForm();
    return Semantic ? Semantic : List;
  }

  void semantics(PseudoObjectExpr &E) {
    Items Then{E.getSyntacticForm()};
    for (Expr *Part : E.semantics()) {
      auto *Opaque = dyn_cast<OpaqueValueExpr>(Part);
      Then.push_back(Opaque ? Opaque->getSourceExpr() : Part);
    }
    follow(Then);
  }

  void variables(DeclStmt &Declared) {
    Items Then;
    for (Decl *D : Declared.decls())
      if (isa<VarDecl>(D))
        Then.push_back(D);
    follow(Then);
  }

  /// A lambda's body is another function.
  void lambda(LambdaExpr &E) {
    Items Then(E.capture_init_begin(), E.capture_init_end());
    Then.push_back(E.getCallOperator());
    follow(Then);
  }

  /// Code that is no child of the statement that runs it, before its children.
  void followHidden(Stmt *S) {
    if (auto *E = dyn_cast<CXXDefaultArgExpr>(S))
      follow({E->getExpr()});
    else if (auto *E = dyn_cast<CXXDefaultInitExpr>(S))
      follow({E->getExpr()});
    else if (auto *E = dyn_cast<BlockExpr>(S))
      follow({E->getBody()});
    else if (auto *Captured = dyn_cast<CapturedStmt>(S))
      follow({Captured->getCapturedStmt()});
    else if (auto *E = dyn_cast<ArrayInitLoopExpr>(S))
      follow({E->getCommonExpr()->getSourceExpr()});
    else if (auto *Directive = dyn_cast<OMPExecutableDirective>(S))
      for (OMPClause *Clause : llvm::reverse(Directive->clauses()))
        this->clause(Clause);
  }

  void clause(OMPClause *Clause) {
    Items Then(Clause->children().begin(), Clause->children().end());
    if (auto *With = OMPClauseWithPreInit::get(Clause))
      Then.push_back(With->getPreInitStmt());
    if (auto *With = OMPClauseWithPostUpdate::get(Clause))
      Then.push_back(With->getPostUpdateExpr());
    follow(Then);
  }

  void declaration(Decl *D) {
    auto *V = dyn_cast<VarDecl>(D);
    if (!V)
      return name(cast<FunctionDecl>(D));
    if (int64_t Symbol = V->isStaticLocal() ? Unit.symbol(*V) : -1; Symbol >= 0)
      Out.push_back(Symbol);
    Items Then{V->getInit()};
    if (auto *Parts = dyn_cast<DecompositionDecl>(V))
      for (BindingDecl *Part : Parts->bindings())
        Then.append({Part->getBinding(), Part->getHoldingVar()});
    follow(Then);
  }

  void name(const ValueDecl *D) {
    const auto *V = dyn_cast<VarDecl>(D);
    if (!isa<FunctionDecl>(D) && !(V && V->hasGlobalStorage()))
      return;
    int64_t Symbol = Unit.symbol(*D);
    if (Symbol >= 0 && Seen.insert(Symbol).second)
      Out.push_back(Symbol);
  }

  UnitBuilder &Unit;
  Rows &Out;
  llvm::DenseSet<int64_t> Seen;
  Items Ahead;
};

} // namespace

Rows namedByFunction(UnitBuilder &Unit, const FunctionDecl &F) {
  Rows Out;
  Names Walk(Unit, Out);
  if (const auto *C = dyn_cast<CXXConstructorDecl>(&F))
    for (const CXXCtorInitializer *I : C->inits())
      Walk.visit(I->getInit());
  if (F.hasBody())
    Walk.visit(F.getBody());
  return Out;
}

Rows namedByInitialiser(UnitBuilder &Unit, const VarDecl &D) {
  Rows Out;
  const Expr *Init = D.getAnyInitializer();
  if (Init && !Init->containsErrors() && !Init->isValueDependent())
    Names(Unit, Out).visit(const_cast<Expr *>(Init));
  return Out;
}

} // namespace linemate
