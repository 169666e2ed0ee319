//===- Bodies.cpp - The bodies of a unit ----------------------------------===//
//
// Owns the walk over declarations, instances of templates included.
//
//===----------------------------------------------------------------------===//

#include "Bodies.h"

#include "clang/AST/DeclFriend.h"
#include "clang/AST/DeclTemplate.h"

using namespace clang;

namespace linemate {

void Bodies::add(const Decl *D) {
  Work.push_back(D);
  while (!Work.empty())
    see(Work.pop_back_val());
}

void Bodies::addContext(const DeclContext &C) {
  // From the last to the first: the list of work is a stack.
  llvm::SmallVector<const Decl *, 32> Members(C.decls());
  Work.append(Members.rbegin(), Members.rend());
}

void Bodies::see(const Decl *D) {
  // The unit itself has no place; what system headers declare is not read.
  if (!isa<TranslationUnitDecl>(D) &&
      (D->isInvalidDecl() || Unit.inSystemHeader(D->getLocation())))
    return;
  if (const auto *F = dyn_cast<FunctionDecl>(D)) {
    // What turns a lambda into a pointer only calls it.
    if (const auto *M = dyn_cast<CXXMethodDecl>(F);
        M && M->getParent()->isLambda() &&
        M->getOverloadedOperator() != OO_Call)
      return;
    if (F->doesThisDeclarationHaveABody() && !F->isDependentContext() &&
        !F->hasSkippedBody() && Seen.insert(F).second)
      Functions.push_back(F);
    return;
  }
  if (const auto *T = dyn_cast<FunctionTemplateDecl>(D)) {
    for (const FunctionDecl *F : T->specializations())
      if (const FunctionDecl *Defined = F->getDefinition())
        Work.push_back(Defined);
    return;
  }
  if (const auto *T = dyn_cast<ClassTemplateDecl>(D)) {
    if (Seen.insert(T->getCanonicalDecl()).second)
      for (const ClassTemplateSpecializationDecl *S : T->specializations())
        Work.push_back(S);
    return;
  }
  if (const auto *T = dyn_cast<VarTemplateDecl>(D)) {
    for (const VarTemplateSpecializationDecl *S : T->specializations())
      Work.push_back(S);
    return;
  }
  if (const auto *V = dyn_cast<VarDecl>(D)) {
    if (V->hasInit() && V->hasGlobalStorage() && !V->isStaticLocal() &&
        !V->getType()->isDependentType() && !V->getInit()->isValueDependent() &&
        !V->getDeclContext()->isDependentContext() && Seen.insert(V).second)
      Initialised.push_back(V);
    return;
  }
  if (const auto *F = dyn_cast<FriendDecl>(D)) {
    if (const NamedDecl *Named = F->getFriendDecl())
      if (isa<FunctionDecl>(Named))
        Work.push_back(Named);
    return;
  }
  if (const auto *R = dyn_cast<CXXRecordDecl>(D)) {
    if (R->isThisDeclarationADefinition() && !R->isDependentContext() &&
        Seen.insert(R).second)
      addContext(*R);
    return;
  }
  if (isa<TranslationUnitDecl>(D) || isa<NamespaceDecl>(D) ||
      isa<LinkageSpecDecl>(D) || isa<ExportDecl>(D))
    addContext(*cast<DeclContext>(D));
}

} // namespace linemate
