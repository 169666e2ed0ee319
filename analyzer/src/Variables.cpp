//===- Variables.cpp - Variables with static storage ----------------------===//
//
// Owns what decides a variable's place: storage, linkage, alignment, section.
//
//===----------------------------------------------------------------------===//

#include "Variables.h"

#include "Names.h"
#include "Spelling.h"

#include "clang/AST/ASTContext.h"
#include "clang/AST/Attr.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/DeclTemplate.h"

using namespace clang;

namespace linemate {

namespace {

constexpr size_t MaxTypeText = 200;

bool isDefinition(const VarDecl &D) {
  return D.isThisDeclarationADefinition() != VarDecl::DeclarationOnly;
}

/// Merged across units: the linker keeps one of several equal definitions.
bool isMerged(UnitBuilder &Unit, const VarDecl &D) {
  if (!D.isExternallyVisible())
    return false;
  GVALinkage Linkage = Unit.context().GetGVALinkageForVariable(&D);
  return Linkage == GVA_DiscardableODR || Linkage == GVA_StrongODR;
}

bool isConstant(UnitBuilder &Unit, const VarDecl &D, InitKind Init) {
  // Of a class that is only declared nobody knows how its objects end; clang
  // must not be asked.
  const CXXRecordDecl *Class =
      D.getType()->getBaseElementTypeUnsafe()->getAsCXXRecordDecl();
  if (Class && !Class->hasDefinition())
    return false;
  return Init != InitKind::Dynamic && !D.getType().isVolatileQualified() &&
         D.getType().isConstantStorage(Unit.context(), /*ExcludeCtor=*/true,
                                       /*ExcludeDtor=*/false);
}

int64_t bitsOf(UnitBuilder &Unit, const VarDecl &D, InitKind Init) {
  int64_t Bits = 0;
  if (!D.isExternallyVisible())
    Bits |= variablebits::Internal;
  if (isConstant(Unit, D, Init))
    Bits |= variablebits::Constant;
  if (D.getTLSKind() != VarDecl::TLS_None)
    Bits |= variablebits::Thread;
  if (isMerged(Unit, D))
    Bits |= variablebits::Inline;
  if (D.isThisDeclarationADefinition() == VarDecl::TentativeDefinition)
    Bits |= variablebits::Tentative;
  if (!isDefinition(D))
    Bits |= variablebits::DeclaredOnly;
  if (D.hasAttr<WeakAttr>() || D.hasAttr<SelectAnyAttr>())
    Bits |= variablebits::Weak;
  if (D.hasAttr<UsedAttr>() || D.hasAttr<RetainAttr>())
    Bits |= variablebits::Used;
  if (D.isUsed(false) || D.isReferenced())
    Bits |= variablebits::Referenced;
  QualType Element = D.getASTContext().getBaseElementType(D.getType());
  if (Element.isVolatileQualified())
    Bits |= variablebits::Volatile;
  return Bits;
}

/// Whether the record of the variable's type is defined in its declaration.
bool isEmbedded(UnitBuilder &Unit, const VarDecl &D, Extent Range) {
  const auto *R =
      D.getASTContext().getBaseElementType(D.getType())->getAsRecordDecl();
  if (!R || !R->isEmbeddedInDeclarator())
    return false;
  Extent Inner = recordExtent(Unit, *R);
  return Unit.file(R->getLocation()) == Unit.file(D.getLocation()) &&
         Inner.Begin >= Range.Begin && Inner.End <= Range.End;
}

/// The type as written, or as printed where it surrounds the name.
void setTypeText(UnitBuilder &Unit, VariableFacts &Out, const VarDecl &D) {
  if (const TypeSourceInfo *Info = D.getTypeSourceInfo()) {
    SourceRange Range = Info->getTypeLoc().getSourceRange();
    if (Range.isValid() && Unit.sources().isBeforeInTranslationUnit(
                               Range.getEnd(), D.getLocation()))
      Out.TypeText = Unit.text(Range, MaxTypeText);
  }
}

} // namespace

const VarDecl &mainDeclaration(const VarDecl &D) {
  if (const VarDecl *Definition = D.getDefinition())
    return *Definition;
  // Asked of an extern declaration, clang does not look at the others.
  for (const VarDecl *Other : D.redecls())
    if (const VarDecl *Acting = Other->getActingDefinition())
      return *Acting;
  return *D.getFirstDecl();
}

VariableFacts variableFacts(UnitBuilder &Unit, TypeTrees &Types,
                            const VarDecl &D, int64_t Order) {
  ASTContext &Context = Unit.context();
  VariableFacts Out;
  Out.Identity = Unit.identity(D).str();
  Out.Symbol = Unit.linkageName(D);
  Out.Name = Unit.readableName(D);
  if (const auto *F =
          dyn_cast_or_null<FunctionDecl>(D.getParentFunctionOrMethod());
      F && D.isStaticLocal())
    Out.Scope = Unit.readableName(*F);
  Out.Type = Types.tree(D.getType());
  // An array of unknown bound has the size that another declaration gives it.
  QualType Type = D.getMostRecentDecl()->getType();
  if (!Type->isIncompleteType() && !Type->isVariablyModifiedType()) {
    Out.Size = Type->isReferenceType()
                   ? Context.getTypeSizeInChars(Context.VoidPtrTy).getQuantity()
                   : Context.getTypeSizeInChars(Type).getQuantity();
    if (const VarDecl *Definition = D.getDefinition();
        Definition && Definition->getType()->isRecordType() &&
        Definition->hasFlexibleArrayInit(Context))
      Out.Size += Definition->getFlexibleArrayInitChars(Context).getQuantity();
  }
  Out.Align =
      Type->isIncompleteType() ? 0 : Context.getDeclAlign(&D).getQuantity();
  Alignment A = declaredAlignment(Unit, D);
  for (const VarDecl *Other : D.redecls())
    if (Other != &D) {
      Alignment More = declaredAlignment(Unit, *Other);
      if (More.Bytes > A.Bytes)
        A = std::move(More);
    }
  Out.DeclaredAlign = A.Bytes;
  Out.AlignText = std::move(A.Text);
  Out.Macros = std::move(A.Macros);
  if (const auto *Section = D.getAttr<SectionAttr>();
      Section && !Section->isImplicit())
    Out.Section = Section->getName().str();
  bool IsDefined = isDefinition(D);
  Out.Init = IsDefined ? initKind(Unit, D) : InitKind::Zero;
  Out.Bits = bitsOf(Unit, D, Out.Init);
  if (IsDefined) {
    Out.Refers = namedByInitialiser(Unit, D);
    if (isReshaped(Unit, D))
      Out.Bits |= variablebits::Reshaped;
  }
  Out.Order = Order;

  Position P = Unit.position(D.getLocation());
  Out.File = P.File;
  Out.Line = P.Line;
  Out.Column = P.Column;
  SourceManager &SM = Unit.sources();
  Extent Range = declarationExtent(Unit, D);
  Out.Begin = Range.Begin;
  Out.End = Range.End;
  Out.NameBegin = SM.getFileOffset(SM.getExpansionLoc(D.getLocation()));
  if (isEmbedded(Unit, D, Range))
    Out.Bits |= variablebits::Embedded;
  setTypeText(Unit, Out, D);
  Out.Text = fileText(Unit, D.getLocation(), Range);
  Out.GuardedBy = guardedBy(Unit, D);
  for (const VarDecl *Other : D.redecls()) {
    if (Other == &D)
      continue;
    Position Where = Unit.position(Other->getLocation());
    Extent R = declarationExtent(Unit, *Other);
    Out.Declarations.push_back({Where.File, Where.Line, R.Begin, R.End});
  }
  return Out;
}

} // namespace linemate
