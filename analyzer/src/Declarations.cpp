//===- Declarations.cpp - Finding variables and records -------------------===//
//
// Owns the walk over declaration contexts.  Statements are not visited: clang
// lists a function's local declarations, lambdas' classes included, in the
// function's own context.
//
//===----------------------------------------------------------------------===//

#include "Variables.h"

#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/Basic/SourceManager.h"
#include "llvm/ADT/DenseSet.h"

using namespace clang;

namespace linemate {

namespace {

constexpr unsigned MaxNesting = 200;

class Walk {
public:
  Walk(UnitBuilder &Unit, Declarations &Out) : Unit(Unit), Out(Out) {}

  void context(const DeclContext &Context, unsigned Depth) {
    if (Depth > MaxNesting)
      return;
    for (const Decl *D : Context.decls())
      declaration(*D, Depth);
  }

private:
  void declaration(const Decl &D, unsigned Depth);
  void variable(const VarDecl &V);
  void record(const RecordDecl &R, unsigned Depth);

  template <typename Template>
  void instances(const Template &T, unsigned Depth) {
    if (Seen.insert(T.getCanonicalDecl()).second)
      for (const auto *Instance : T.specializations())
        // Explicit specialisations stand in the source as well.
        if (Instance->getTemplateSpecializationKind() !=
            TSK_ExplicitSpecialization)
          declaration(*Instance, Depth);
  }

  UnitBuilder &Unit;
  Declarations &Out;
  llvm::DenseSet<const Decl *> Seen;
};

void Walk::declaration(const Decl &D, unsigned Depth) {
  switch (D.getKind()) {
  case Decl::Var:
  case Decl::VarTemplateSpecialization:
  case Decl::Decomposition:
    return variable(cast<VarDecl>(D));
  case Decl::Record:
  case Decl::CXXRecord:
  case Decl::ClassTemplateSpecialization:
    return record(cast<RecordDecl>(D), Depth);
  case Decl::ClassTemplate:
    return instances(cast<ClassTemplateDecl>(D), Depth + 1);
  case Decl::FunctionTemplate:
    return instances(cast<FunctionTemplateDecl>(D), Depth + 1);
  case Decl::VarTemplate:
    return instances(cast<VarTemplateDecl>(D), Depth + 1);
  case Decl::Namespace:
  case Decl::LinkageSpec:
  case Decl::Export:
    return context(*cast<DeclContext>(&D), Depth + 1);
  case Decl::Function:
  case Decl::CXXMethod:
  case Decl::CXXConstructor:
  case Decl::CXXDestructor:
  case Decl::CXXConversion: {
    const auto &F = cast<FunctionDecl>(D);
    if (!F.isDependentContext() && F.isThisDeclarationADefinition())
      context(F, Depth + 1);
    return;
  }
  default:
    return;
  }
}

void Walk::variable(const VarDecl &V) {
  if (!V.hasGlobalStorage() || V.isInvalidDecl() ||
      V.getType()->isDependentType() ||
      V.getDeclContext()->isDependentContext() || V.getDescribedVarTemplate())
    return;
  const VarDecl &Main = mainDeclaration(V);
  bool IsDefined =
      Main.isThisDeclarationADefinition() != VarDecl::DeclarationOnly;
  // Compilers list a variable where it is first defined, if only tentatively.
  // (Definitions made from templates are in no context that is walked.)
  if (IsDefined && Main.getLexicalDeclContext()->isFileContext() &&
      Main.getTemplateSpecializationKind() == TSK_Undeclared &&
      V.isThisDeclarationADefinition() == VarDecl::DeclarationOnly)
    return;
  if (!Seen.insert(V.getCanonicalDecl()).second)
    return;
  bool IsUsed = V.isReferenced() || V.isUsed(false);
  if (!IsDefined && !IsUsed)
    return;
  if (IsDefined && !IsUsed && Unit.inSystemHeader(Main.getLocation())) {
    // What a header of the system leaves in every unit: std::ios_base::Init.
    bool TakesRoom =
        !Main.isInline() && !isa<VarTemplateSpecializationDecl>(Main) &&
        !Main.getType().isConstQualified() && !Main.isStaticDataMember();
    if (!TakesRoom)
      return;
  }
  Out.Variables.push_back(&Main);
}

void Walk::record(const RecordDecl &R, unsigned Depth) {
  if (R.isDependentContext() || !R.isThisDeclarationADefinition())
    return;
  // Those of headers come with what the unit does to them: every unit would
  // repeat the rest.
  const SourceManager &Sources = Unit.context().getSourceManager();
  if (!R.isInvalidDecl() &&
      Sources.isInMainFile(Sources.getExpansionLoc(R.getLocation())))
    Out.Records.push_back(&R);
  context(R, Depth + 1);
}

} // namespace

Declarations findDeclarations(UnitBuilder &Unit,
                              const TranslationUnitDecl &Root) {
  Declarations Out;
  Walk(Unit, Out).context(Root, 0);
  return Out;
}

} // namespace linemate
