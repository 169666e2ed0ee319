//===- Variables.h - Variables with static storage -----------------*- C++
//-*-===//
//
// Owns finding them and VariableFacts of each.
//
//===----------------------------------------------------------------------===//

#ifndef LINEMATE_ANALYZER_VARIABLES_H
#define LINEMATE_ANALYZER_VARIABLES_H

#include "Facts.h"
#include "Types.h"
#include "UnitBuilder.h"

#include "clang/AST/Decl.h"

#include <vector>

namespace linemate {

struct Declarations {
  std::vector<const clang::VarDecl *> Variables; ///< in the order of the source
  std::vector<const clang::RecordDecl *> Records; ///< of non-system files
};

/// Every variable with static storage that the unit defines or uses, and every
/// record that its own files define.  Headers of the system count only where
/// something is used or takes up room.
Declarations findDeclarations(UnitBuilder &Unit,
                              const clang::TranslationUnitDecl &Root);

VariableFacts variableFacts(UnitBuilder &Unit, TypeTrees &Types,
                            const clang::VarDecl &D, int64_t Order);

/// The declaration that says most about the variable: its definition, the
/// last tentative one, else the first declaration.
const clang::VarDecl &mainDeclaration(const clang::VarDecl &D);

/// Where the initial bytes go.
InitKind initKind(UnitBuilder &Unit, const clang::VarDecl &D);
/// The same of one element of an initialiser.
InitKind initKind(clang::ASTContext &Context, const clang::Expr &E);

/// Whether Clang makes the initial value of another LLVM type, so that it has
/// to make the variable anew where something named it before.
bool isReshaped(UnitBuilder &Unit, const clang::VarDecl &D);

} // namespace linemate

#endif
