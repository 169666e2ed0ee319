//===- Bodies.h - The bodies of a unit ---------------------------*- C++
//-*-===//
//
// Owns finding function definitions and initialisers of globals among the
// declarations of a unit.  Statements are not looked at.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ANALYZER_FUNCTION_BODIES_H
#define LINEMATE_ANALYZER_FUNCTION_BODIES_H

#include "UnitBuilder.h"

#include "clang/AST/DeclCXX.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallVector.h"

#include <vector>

namespace linemate {

class Bodies {
public:
  explicit Bodies(UnitBuilder &Unit) : Unit(Unit) {}

  std::vector<const clang::FunctionDecl *> Functions;
  std::vector<const clang::VarDecl *> Initialised; ///< globals

  void add(const clang::Decl *D);

private:
  UnitBuilder &Unit;
  llvm::DenseSet<const clang::Decl *> Seen;
  llvm::SmallVector<const clang::Decl *, 32> Work;

  void see(const clang::Decl *D);
  void addContext(const clang::DeclContext &C);
};

} // namespace linemate

#endif
