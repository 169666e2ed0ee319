//===- Fixed.cpp - Variables that keep their first value ------------------===//
//
// Owns the search.  Whatever names a variable but to load its value may change
// it, or hands out its address: that is asked of all that is written in the
// unit, default arguments and templates too, not of what is known to run.
//
//===----------------------------------------------------------------------===//

#include "Fixed.h"

#include "clang/AST/Attr.h"
#include "clang/AST/RecursiveASTVisitor.h"

using namespace clang;

namespace linemate {

namespace {

constexpr unsigned MaxDepth = 16;

std::optional<int64_t> small(const llvm::APSInt &Value) {
  return Value.isRepresentableByInt64() ? std::optional(Value.getExtValue())
                                        : std::nullopt;
}

/// What an integer with static storage begins with, where nothing outside of
/// the program's code sets it: a loader may set what stands in a section.
std::optional<int64_t> firstValue(const VarDecl &V, ASTContext &Context) {
  QualType T = V.getType();
  if (V.isInvalidDecl() || V.getType()->isDependentType() ||
      !V.hasGlobalStorage() || !T->isIntegralOrEnumerationType() ||
      T.isVolatileQualified() || V.hasAttr<UsedAttr>() ||
      V.hasAttr<RetainAttr>() || V.hasAttr<SectionAttr>() ||
      V.hasAttr<WeakAttr>() || V.hasAttr<SelectAnyAttr>() ||
      V.hasAttr<AliasAttr>() || V.hasAttr<AsmLabelAttr>())
    return std::nullopt;
  const VarDecl *Definition = V.getDefinition();
  if (!Definition)
    Definition = V.getActingDefinition();
  if (!Definition)
    return std::nullopt;
  const Expr *Init = Definition->getInit();
  if (!Init)
    return 0;
  if (Init->isValueDependent() || Init->containsErrors())
    return std::nullopt;
  Expr::EvalResult Result;
  return Init->EvaluateAsInt(Result, Context, Expr::SE_NoSideEffects,
                             /*InConstantContext=*/true)
             ? small(Result.Val.getInt())
             : std::nullopt;
}

class Namings : public RecursiveASTVisitor<Namings> {
public:
  explicit Namings(ASTContext &Context) : Context(Context) {}

  bool shouldVisitTemplateInstantiations() const { return true; }
  bool shouldVisitImplicitCode() const { return true; }

  bool VisitVarDecl(VarDecl *V) {
    const Decl *Key = V->getCanonicalDecl();
    bool IsConst = V->getType().isConstQualified();
    if (IsConst || !V->isExternallyVisible())
      if (auto Value = firstValue(*V, Context)) {
        Values[Key] = *Value;
        if (IsConst)
          Constant.insert(Key);
      }
    return true;
  }
  bool VisitDeclRefExpr(DeclRefExpr *Ref) {
    if (isa<VarDecl>(Ref->getDecl()))
      ++Named[Ref->getDecl()->getCanonicalDecl()];
    return true;
  }
  bool VisitImplicitCastExpr(ImplicitCastExpr *Cast) {
    const auto *Ref = dyn_cast<DeclRefExpr>(Cast->getSubExpr()->IgnoreParens());
    if (Ref && Cast->getCastKind() == CK_LValueToRValue)
      --Named[Ref->getDecl()->getCanonicalDecl()];
    return true;
  }

  FixedValues take() {
    FixedValues Out;
    for (const auto &[V, Value] : Values)
      if (Constant.contains(V) || !Named.lookup(V))
        Out[V] = Value;
    return Out;
  }

private:
  ASTContext &Context;
  FixedValues Values;
  llvm::DenseSet<const Decl *> Constant;
  llvm::DenseMap<const Decl *, int> Named; ///< but to load the value
};

std::optional<int64_t> valueOf(const Expr *E, const FixedValues &Values,
                               unsigned Depth = 0) {
  E = E->IgnoreParenImpCasts();
  if (Depth > MaxDepth || !E->getType()->isIntegralOrEnumerationType())
    return std::nullopt;
  if (const auto *I = dyn_cast<IntegerLiteral>(E))
    return small(
        llvm::APSInt(I->getValue(), E->getType()->isUnsignedIntegerType()));
  if (const auto *Literal = dyn_cast<CXXBoolLiteralExpr>(E))
    return Literal->getValue();
  if (const auto *Ref = dyn_cast<DeclRefExpr>(E)) {
    if (const auto *Of = dyn_cast<EnumConstantDecl>(Ref->getDecl()))
      return small(Of->getInitVal());
    auto It = Values.find(Ref->getDecl()->getCanonicalDecl());
    return It == Values.end() ? std::nullopt : std::optional(It->second);
  }
  if (const auto *U = dyn_cast<UnaryOperator>(E)) {
    auto Of = valueOf(U->getSubExpr(), Values, Depth + 1);
    if (Of && U->getOpcode() == UO_LNot)
      return !*Of;
    return std::nullopt;
  }
  const auto *B = dyn_cast<BinaryOperator>(E);
  if (!B)
    return std::nullopt;
  auto Left = valueOf(B->getLHS(), Values, Depth + 1);
  auto Right = valueOf(B->getRHS(), Values, Depth + 1);
  if (B->getOpcode() == BO_And && (Left == 0 || Right == 0))
    return 0;
  // What is below zero may be a large number to the comparison.
  if (!Left || !Right || *Left < 0 || *Right < 0)
    return std::nullopt;
  switch (B->getOpcode()) {
  case BO_EQ:
    return *Left == *Right;
  case BO_NE:
    return *Left != *Right;
  case BO_LT:
    return *Left < *Right;
  case BO_LE:
    return *Left <= *Right;
  case BO_GT:
    return *Left > *Right;
  case BO_GE:
    return *Left >= *Right;
  case BO_And:
    return *Left & *Right;
  default:
    return std::nullopt;
  }
}

} // namespace

FixedValues fixedValues(ASTContext &Context) {
  // What is missing of a statement may have been a change.
  if (Context.getDiagnostics().hasUncompilableErrorOccurred())
    return FixedValues();
  Namings All(Context);
  const SourceManager &Sources = Context.getSourceManager();
  for (Decl *D : Context.getTranslationUnitDecl()->decls())
    if (!Sources.isInSystemHeader(Sources.getExpansionLoc(D->getLocation())))
      All.TraverseDecl(D);
  return All.take();
}

std::optional<bool> decided(const Expr *Condition, const FixedValues &Values) {
  if (Values.empty())
    return std::nullopt;
  if (const auto *Call = dyn_cast<CallExpr>(Condition->IgnoreParenImpCasts());
      Call && Call->getNumArgs() >= 2 &&
      (Call->getBuiltinCallee() == Builtin::BI__builtin_expect ||
       Call->getBuiltinCallee() ==
           Builtin::BI__builtin_expect_with_probability))
    Condition = Call->getArg(0);
  auto Value = valueOf(Condition, Values);
  return Value ? std::optional(*Value != 0) : std::nullopt;
}

} // namespace linemate
