//===- QualifiedName.cpp - Names of C++ as rows state them ----------------===//

#include "QualifiedName.h"

#include "clang/AST/DeclCXX.h"
#include "llvm/ADT/SmallVector.h"

using namespace clang;

namespace linemate {

std::string qualifiedName(const NamedDecl &D) {
  llvm::SmallVector<llvm::StringRef, 6> Scopes; // from the inside
  bool IsDestructor = isa<CXXDestructorDecl>(D);
  if (const auto *M = dyn_cast<CXXMethodDecl>(&D);
      M && (IsDestructor || isa<CXXConstructorDecl>(D))) {
    if (M->getParent()->getIdentifier())
      Scopes.push_back(M->getParent()->getName());
  } else if (D.getIdentifier()) {
    Scopes.push_back(D.getName());
  }
  if (Scopes.empty())
    return {};
  for (const DeclContext *At = D.getDeclContext(); !At->isTranslationUnit();
       At = At->getParent()) {
    if (At->isTransparentContext() && !isa<EnumDecl>(At))
      continue;
    const auto *Space = dyn_cast<NamespaceDecl>(At);
    if (Space && Space->isInline() && !Space->isAnonymousNamespace())
      continue;
    const auto *Named = dyn_cast<NamedDecl>(At);
    if (!Named || !Named->getIdentifier() || At->isFunctionOrMethod())
      return {};
    Scopes.push_back(Named->getName());
  }
  std::string Out;
  for (size_t I = Scopes.size(); I-- > 0;) {
    if (IsDestructor && I == 0)
      Out += '~';
    Out += Scopes[I];
    if (I)
      Out += "::";
  }
  return Out;
}

} // namespace linemate
