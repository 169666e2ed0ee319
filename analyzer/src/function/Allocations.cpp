//===- Allocations.cpp - Storage made for records -------------------------===//
//
// Owns which calls allocate, for which record, and the alignment they promise.
//
//===----------------------------------------------------------------------===//

#include "Body.h"

#include "clang/AST/Attr.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/Basic/TargetInfo.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;

namespace linemate {

namespace {

/// Position of the alignment among the arguments, -1 none.
int alignmentArgument(StringRef Name) {
  return llvm::StringSwitch<int>(Name)
      .Cases("aligned_alloc", "memalign", "je_aligned_alloc", "je_memalign", 0)
      .Cases("posix_memalign", "_mm_malloc", "rte_malloc_socket", 1)
      .Default(-1);
}

/// std::align_val_t, which says by itself what it is.
bool isAlignment(QualType T) {
  const auto *E = T->getAs<EnumType>();
  return E && E->getDecl()->isInStdNamespace() &&
         E->getDecl()->getName() == "align_val_t";
}

/// The same where the function is not known, by what it calls its parameters.
int alignmentArgument(const FunctionDecl &F) {
  if (int Known = alignmentArgument(F.getName()); Known >= 0)
    return Known;
  for (unsigned I = 0; I < F.getNumParams(); ++I)
    if (const ParmVarDecl *P = F.getParamDecl(I);
        isAlignment(P->getType()) ||
        (P->getType()->isIntegerType() &&
         P->getName().starts_with_insensitive("align")))
      return int(I);
  return -1;
}

bool isAllocator(StringRef Name) {
  for (StringRef End :
       {"alloc", "alloc0", "alloc_node", "alloc_array", "alloc_aligned",
        "memalign", "strndup_alloc", "malloc_n", "malloc0_n", "palloc0"})
    if (Name.ends_with_insensitive(End))
      return true;
  return false;
}

/// The T of a sizeof(T), or of the type of its operand.
const RecordDecl *sizeofRecord(const Expr *E, unsigned Depth = 0) {
  E = E->IgnoreParenCasts();
  if (Depth > 4)
    return nullptr;
  if (const auto *S = dyn_cast<UnaryExprOrTypeTraitExpr>(E))
    return S->getKind() == UETT_SizeOf
               ? S->getTypeOfArgument()->getAsRecordDecl()
               : nullptr;
  if (const auto *B = dyn_cast<BinaryOperator>(E)) {
    if (const RecordDecl *R = sizeofRecord(B->getLHS(), Depth + 1))
      return R;
    return sizeofRecord(B->getRHS(), Depth + 1);
  }
  return nullptr;
}

/// Is the size of a record part of the value, behind names of constants too?
bool measuresRecord(const Stmt *S, unsigned Depth = 0) {
  constexpr unsigned MaxDepth = 32;
  if (!S || Depth > MaxDepth)
    return false;
  if (const auto *U = dyn_cast<UnaryExprOrTypeTraitExpr>(S))
    return U->getTypeOfArgument()->getAsRecordDecl() != nullptr ||
           U->isInstantiationDependent();
  if (const auto *O = dyn_cast<OffsetOfExpr>(S))
    return O->getNumComponents() != 0;
  if (const auto *Ref = dyn_cast<DeclRefExpr>(S)) {
    if (const auto *V = dyn_cast<VarDecl>(Ref->getDecl()))
      return measuresRecord(V->getAnyInitializer(), Depth + 1);
    if (const auto *E = dyn_cast<EnumConstantDecl>(Ref->getDecl()))
      return measuresRecord(E->getInitExpr(), Depth + 1);
  }
  return llvm::any_of(S->children(), [&](const Stmt *Part) {
    return measuresRecord(Part, Depth + 1);
  });
}

constexpr int64_t LineBytes = 64; ///< the least of what DPDK takes for a line
/// More is not there to align: it is as much as a page.
constexpr int64_t MaxAddedBytes = 4096;

/// The constants that are added to the size of a record: room to round up in.
int64_t addedBytes(const Expr *E, const ASTContext &Context,
                   unsigned Depth = 0) {
  E = E->IgnoreParenCasts();
  const auto *B = dyn_cast<BinaryOperator>(E);
  if (B && B->isAdditiveOp() && Depth <= 4) {
    int64_t Right = addedBytes(B->getRHS(), Context, Depth + 1);
    return addedBytes(B->getLHS(), Context, Depth + 1) +
           (B->getOpcode() == BO_Sub ? -Right : Right);
  }
  Expr::EvalResult Result;
  if (sizeofRecord(E) || E->isValueDependent() ||
      !E->EvaluateAsInt(Result, Context))
    return 0;
  int64_t Bytes = Result.Val.getInt().getExtValue();
  return 0 <= Bytes && Bytes <= MaxAddedBytes ? Bytes : 0;
}

/// By its name; what returns no pointer is told where to put it.
bool allocatesByName(const CallExpr &C, const FunctionDecl &F) {
  return F.getIdentifier() &&
         (alignmentArgument(F.getName()) >= 0 ||
          (C.getType()->isPointerType() && isAllocator(F.getName())));
}

/// By its declaration: memory that nobody else has, for the size of a record.
/// What else it is told may be an alignment, unless that is zero.
bool allocatesByAttribute(const CallExpr &C, const FunctionDecl &F,
                          const ASTContext &Context) {
  if (!F.getIdentifier() || !C.getType()->isVoidPointerType() ||
      !(F.hasAttr<RestrictAttr>() || F.hasAttr<AllocSizeAttr>()) ||
      alignmentArgument(F) >= 0)
    return false;
  bool Sized = false;
  for (const Expr *Arg : C.arguments()) {
    Expr::EvalResult Value;
    if (sizeofRecord(Arg))
      Sized = true;
    else if (Arg->getType()->isIntegralOrEnumerationType() &&
             (Arg->isValueDependent() || !Arg->EvaluateAsInt(Value, Context) ||
              Value.Val.getInt() != 0))
      return false;
  }
  return Sized;
}

/// By what it is told: no more than the size of a record, and of whom.  What
/// is told neither the place nor the key of what it returns finds it itself.  A
/// number that is computed may choose among what there is, and any other but
/// the line of the call may be an alignment.
bool allocatesBySize(const CallExpr &C, const FunctionDecl &F,
                     const ASTContext &Context) {
  if (!F.getIdentifier() || F.getBuiltinID() ||
      !C.getType()->isVoidPointerType() ||
      C.getType()->getPointeeType().isConstQualified())
    return false;
  bool Sized = false;
  int Alignment = alignmentArgument(F);
  for (unsigned I = 0; I < C.getNumArgs(); ++I) {
    const Expr *Arg = C.getArg(I);
    QualType T = Arg->getType();
    if (int(I) == Alignment)
      continue;
    if (T->isIntegralOrEnumerationType()) {
      Expr::EvalResult Value;
      if (sizeofRecord(Arg)) {
        Sized = true;
        continue;
      }
      if (Arg->isValueDependent() || !Arg->EvaluateAsInt(Value, Context))
        return false;
      const SourceManager &Files = Context.getSourceManager();
      if (Value.Val.getInt() != 0 &&
          Value.Val.getInt() != Files.getPresumedLineNumber(C.getExprLoc()))
        return false;
    } else if (T->isVoidPointerType()) {
      return false; // the place, or the key, of what is returned
    }
  }
  return Sized;
}

bool ofStandardAllocator(const Expr &E) {
  const CXXRecordDecl *R = E.getType()->getAsCXXRecordDecl();
  return R && R->isInStdNamespace() && R->getName() == "allocator";
}

/// std::allocator of characters, which promises what `new` does, whatever it is
/// told the size of.
bool allocatesBytes(const CallExpr &C, const FunctionDecl &F) {
  const auto *M = dyn_cast<CXXMethodDecl>(&F);
  if (!M || !F.getIdentifier() || F.getName() != "allocate" ||
      !C.getType()->isPointerType() ||
      !C.getType()->getPointeeType()->isCharType())
    return false;
  const CXXRecordDecl &Class = *M->getParent();
  StringRef Name = Class.getName();
  if (Class.isInStdNamespace() && Name == "allocator_traits")
    return C.getNumArgs() && ofStandardAllocator(*C.getArg(0));
  // Before C++20 it is inherited.
  return (Class.isInStdNamespace() && Name == "allocator") ||
         Name == "new_allocator" || Name == "__new_allocator";
}

/// By its name, memory that the record which it returns tells of.
bool reservesByName(const FunctionDecl &F) {
  return F.getIdentifier() && F.getName().contains_insensitive("reserve");
}

/// What a library's own documents promise of memory that is no record's.
int64_t documented(StringRef Name) {
  return llvm::StringSwitch<int64_t>(Name)
      .Cases("rte_memzone_reserve", "rte_memzone_reserve_bounded", LineBytes)
      .Default(0);
}

} // namespace

bool isAllocation(const Expr &E, const ASTContext &Context) {
  if (const auto *N = dyn_cast<CXXNewExpr>(&E))
    return !N->getNumPlacementArgs();
  const auto *C = dyn_cast<CallExpr>(&E);
  const FunctionDecl *F = C ? C->getDirectCallee() : nullptr;
  return F &&
         (allocatesByName(*C, *F) || allocatesByAttribute(*C, *F, Context));
}

void Body::allocated(StringRef Api, QualType T, int64_t Guarantee,
                     SourceLocation Where) {
  const RecordDecl *R = T.isNull() ? nullptr : T->getAsRecordDecl();
  AllocationFact A;
  A.Api = Api.str();
  A.Record = R ? Unit.record(*R) : -1;
  A.Guarantee = Guarantee;
  Position P = Unit.position(Where);
  A.File = P.File;
  A.Line = P.Line;
  A.Column = P.Column;
  A.LoopDepth = Here.Shape.LoopDepth;
  A.Order = Here.Shape.Order;
  Out.Allocations.push_back(std::move(A));
}

void Body::allocates(const CXXNewExpr &N) {
  MadeAt[&N] = Here.Shape.LoopDepth;
  QualType T = N.getAllocatedType();
  T = Context.getBaseElementType(T);
  if (N.getNumPlacementArgs() || !T->isRecordType())
    return;
  // A class that brings its own operator does so to place its objects.
  bool Own = isa_and_nonnull<CXXMethodDecl>(N.getOperatorNew());
  int64_t Guarantee = N.passAlignment() || Own
                          ? Context.getTypeAlignInChars(T).getQuantity()
                          : 0;
  allocated(N.isArray() ? "new[]" : "new", T, Guarantee, N.getExprLoc());
  Out.Allocations.back().Count = roomOf(N, Context);
}

void Body::allocates(const CallExpr &C, const FunctionDecl &F) {
  if (!F.getIdentifier())
    return;
  StringRef Name = F.getName();
  if (makesOwned(F)) {
    MadeAt[&C] = Here.Shape.LoopDepth;
    const TemplateArgumentList *Args = F.getTemplateSpecializationArgs();
    if (!Args || !Args->size() ||
        Args->get(0).getKind() != TemplateArgument::Type)
      return;
    QualType T = Context.getBaseElementType(Args->get(0).getAsType());
    if (!T->isRecordType() || T->isIncompleteType())
      return;
    int64_t Align = Context.getTypeAlignInChars(T).getQuantity();
    int64_t Default = Context.getTargetInfo().getNewAlign() / 8;
    bool Aligned = Context.getLangOpts().AlignedAllocation && Align > Default;
    allocated(("std::" + Name).str(), T, Aligned ? Align : 0, C.getExprLoc());
    Out.Allocations.back().Count =
        roomOfMade(C, Args->get(0).getAsType(), Context);
    return;
  }
  int64_t Promised =
      ofCall(promisedBy(F, Context, Known.elements()), C, Context);
  if (Promised < 0) // whoever calls this function says it
    Promised = AnyAlignment;
  bool ByBody = Promised && C.getType()->isVoidPointerType();
  bool OfBytes = allocatesBytes(C, F);
  if (!ByBody && !OfBytes && !allocatesByName(C, F) &&
      !allocatesByAttribute(C, F, Context) && !allocatesBySize(C, F, Context))
    return;
  MadeAt[&C] = Here.Shape.LoopDepth;
  int Alignment = alignmentArgument(F);
  int64_t Guarantee = 0;
  Expr::EvalResult Result;
  if (Alignment >= 0 && unsigned(Alignment) < C.getNumArgs() &&
      !C.getArg(unsigned(Alignment))->isValueDependent())
    // What is asked for while it runs may be any alignment.
    Guarantee = C.getArg(unsigned(Alignment))->EvaluateAsInt(Result, Context)
                    ? Result.Val.getInt().getExtValue()
                    : AnyAlignment;
  Guarantee =
      std::max({Guarantee, Promised, promisedByDeclaration(C, Context)});
  QualType T;
  bool Numbered = false;
  for (const Expr *Arg : C.arguments())
    if (const RecordDecl *R = sizeofRecord(Arg)) {
      T = Context.getRecordType(R);
      // As much as rounding the start up may take: so it is rounded up.
      int64_t Align = Context.getTypeAlignInChars(T).getQuantity();
      int64_t Promised = Context.getTargetInfo().getNewAlign() / 8;
      if (Align > Promised && addedBytes(Arg, Context) >= Align - Promised)
        Guarantee = std::max(Guarantee, Align);
      break;
    }
  if (T.isNull() && Name == "posix_memalign" && C.getNumArgs()) {
    QualType To = C.getArg(0)->IgnoreParenCasts()->getType();
    if (To->isPointerType() && To->getPointeeType()->isPointerType())
      T = To->getPointeeType()->getPointeeType();
    Numbered = !T.isNull() && T->isRecordType() && byNumber(C, T);
  }
  // What returns the type itself knows it: its own allocation counts.
  if (T.isNull() &&
      (OfBytes || (C.getType()->isPointerType() &&
                   C.getType()->getPointeeType()->isRecordType())))
    return;
  allocated(OfBytes ? "std::allocator" : Name, T, Guarantee, C.getExprLoc());
  Out.Allocations.back().ByNumber = Numbered;
  Out.Allocations.back().Count = T.isNull() ? 0 : roomOf(C, F, Context);
  Allocated[&C] = Out.Allocations.size() - 1;
}

/// Does the call ask for so many bytes whatever the size of \p Record is?  Of a
/// number of objects and their size only the latter counts.
bool Body::byNumber(const CallExpr &C, QualType Record) const {
  if (Record->isIncompleteType() || Record->isDependentType())
    return false;
  int64_t Size = Context.getTypeSizeInChars(Record).getQuantity();
  const FunctionDecl *F = C.getDirectCallee();
  int Alignment = F && F->getIdentifier() ? alignmentArgument(*F) : -1;
  bool Found = false;
  for (unsigned I = 0; I < C.getNumArgs(); ++I) {
    const Expr *Arg = C.getArg(I);
    Expr::EvalResult Result;
    if (int(I) == Alignment || !Arg->getType()->isIntegerType())
      continue;
    if (Arg->isValueDependent() || measuresRecord(Arg))
      return false;
    if (Arg->EvaluateAsInt(Result, Context))
      Found |= Result.Val.getInt().getExtValue() >= Size;
  }
  return Found;
}

/// What was reserved and is found in the record that tells of it, as
/// `zone->addr` of a zone: \p C makes it the place of a record.
void Body::reserved(const CastExpr &C) {
  if (!C.getType()->isPointerType()) // vectors are cast so as well
    return;
  const RecordDecl *R = C.getType()->getPointeeType()->getAsRecordDecl();
  const Expr *Place = C.getSubExpr()->IgnoreParenImpCasts();
  if (const auto *One = dyn_cast<ConditionalOperator>(Place))
    Place = One->getTrueExpr()->IgnoreParenImpCasts(); // else it is null
  const auto *M = dyn_cast<MemberExpr>(Place);
  if (!R || !M || !M->getType()->isVoidPointerType())
    return;
  // A member of an unnamed union is one of the record.
  while (const auto *Outer = dyn_cast<MemberExpr>(M->getBase()))
    M = Outer;
  if (!M->isArrow())
    return;
  const Expr *Zone = M->getBase()->IgnoreParenImpCasts();
  llvm::ArrayRef<const Expr *> Values(Zone);
  if (const auto *Ref = dyn_cast<DeclRefExpr>(Zone)) {
    const auto *V = dyn_cast<VarDecl>(Ref->getDecl());
    auto Known = V ? Seen.Locals.find(V) : Seen.Locals.end();
    if (Known == Seen.Locals.end() || Known->second.Stepped)
      return;
    Values = Known->second.Values;
  }
  for (const Expr *Value : Values) {
    const auto *Call = dyn_cast<CallExpr>(Value->IgnoreParenCasts());
    const FunctionDecl *F = Call ? Call->getDirectCallee() : nullptr;
    if (!F || !reservesByName(*F))
      continue;
    int Told = alignmentArgument(*F);
    int64_t Guarantee = documented(F->getName());
    Expr::EvalResult Result;
    if (Told >= 0 && unsigned(Told) < Call->getNumArgs())
      Guarantee = Call->getArg(unsigned(Told))->EvaluateAsInt(Result, Context)
                      ? Result.Val.getInt().getExtValue()
                      : AnyAlignment;
    return allocated(F->getName(), Context.getRecordType(R), Guarantee,
                     C.getExprLoc());
  }
}

/// What a member leads to is given back, by a function that is named so.
void Body::freed(const CallExpr &C, const FunctionDecl &F) {
  if (!F.getIdentifier() || !F.getName().ends_with_insensitive("free") ||
      !F.getReturnType()->isVoidType() || !C.getNumArgs())
    return;
  const auto *M =
      dyn_cast<MemberExpr>(C.getArg(C.getNumArgs() - 1)->IgnoreParenCasts());
  const auto *Field = M ? dyn_cast<FieldDecl>(M->getMemberDecl()) : nullptr;
  if (Field && Field->getType()->isPointerType() &&
      Field->getType()->getPointeeType()->isRecordType())
    Freed.emplace_back(Field, Here.Shape.Rarity);
}

/// What a function does to the objects that it frees, and puts no others in
/// their place, it does once in their life, on the ways that free them.
void Body::endings() {
  constexpr size_t FlagsColumn = 7, RarityColumn = 13;
  for (const auto &[Field, Rarity] : Freed) {
    const auto *R = Field->getType()->getPointeeType()->getAsRecordDecl();
    if (Refilled.contains(Field))
      continue;
    for (size_t I = 0; I < AccessLocations.size(); ++I) {
      const Location &P = AccessLocations[I];
      int64_t *Row = &Out.Accesses[I * AccessColumns];
      if (P.In == Location::Kind::Record && P.Record &&
          P.Record->getCanonicalDecl() == R->getCanonicalDecl() &&
          Row[RarityColumn] >= Rarity)
        Row[FlagsColumn] |= accessflag::New;
    }
  }
}

/// What a call returned is said to be aligned.
void Body::assumed(const CallExpr &C) {
  auto It = C.getNumArgs() ? Allocated.find(C.getArg(0)->IgnoreParenCasts())
                           : Allocated.end();
  if (It == Allocated.end())
    return;
  int64_t &Guarantee = Out.Allocations[It->second].Guarantee;
  Guarantee = std::max(Guarantee, promisedByDeclaration(C, Context));
}

/// Memory of which the last bits of the address are cut off, behind what was
/// added to round it up.
void Body::rounded(const BinaryOperator &B) {
  Expr::EvalResult Result;
  if (!B.getType()->isIntegerType() || B.getRHS()->isValueDependent() ||
      !B.getRHS()->EvaluateAsInt(Result, Context))
    return;
  const llvm::APSInt &Kept = Result.Val.getInt();
  if (!(~Kept).isMask())
    return;
  unsigned Bits = Kept.countr_zero();
  const Expr *Address = B.getLHS()->IgnoreParenCasts();
  while (const auto *Sum = dyn_cast<BinaryOperator>(Address)) {
    if (Sum->getOpcode() != BO_Add)
      return;
    Address = Sum->getLHS()->IgnoreParenCasts();
  }
  auto It = Allocated.find(Address);
  if (It == Allocated.end() ||
      (int64_t(1) << std::min(Bits, 62U)) > MaxAddedBytes)
    return;
  int64_t &Guarantee = Out.Allocations[It->second].Guarantee;
  Guarantee = std::max(Guarantee, int64_t(1) << Bits);
}

} // namespace linemate
