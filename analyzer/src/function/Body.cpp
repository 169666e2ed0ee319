//===- Body.cpp - One function body to its facts --------------------------===//
//
// Owns which statements access memory.  Every expression is an element of the
// graph, in the order of evaluation, so that each is looked at once and none
// descends further than to find what its operand designates.
//
//===----------------------------------------------------------------------===//

#include "Body.h"

#include "LoopWork.h"
#include "WaitedWords.h"
#include "ZeroTests.h"

#include "clang/AST/Attr.h"
#include "llvm/ADT/BitVector.h"

using namespace clang;

namespace linemate {

Body::Body(UnitBuilder &Unit, Callees &Known, const Scan &Seen,
           const FunctionDecl *Function, const CFG &Graph, FunctionFacts &Out)
    : Unit(Unit), Context(Unit.context()), Known(Known), Seen(Seen),
      Function(Function), Graph(Graph), Blocks(Graph, Context, Known.fixed()),
      At(Context, Function, &Seen, &Known.elements()), Out(Out) {}

void Body::run() {
  requirements();
  for (const CFGBlock *B : Blocks.inOrder())
    read(*B);
  finish();
  endings();
  if (!Locks.isTrivial()) {
    absent();
    Locks.solve(Graph, Blocks);
  }
  setLocksets();
  summarise();
  zeroTests(Graph, Blocks, At, Unit, Out.ZeroTests);
  waitedWords(Graph, Blocks, At, Unit, Out.ZeroTests);
  placeBlocks();
  loopWork(Blocks, Out.Loops);
}

/// The other order of those blocks in which something happens, where loops
/// begin, and stages.
void Body::placeBlocks() {
  if (Blocks.inOrder().size() > MostOrder)
    return; // several have one number
  llvm::BitVector Busy(Graph.getNumBlockIDs());
  for (const Event &E : Events)
    Busy.set(E.Block);
  Turns.count(Graph);
  for (const CFGBlock *B : Blocks.inOrder()) {
    const BlockShape &S = Blocks[B->getBlockID()];
    bool Begins = S.IsOutermostHead || EndLoops.contains(B->getBlockID());
    unsigned Staged = Turns.number(B->getBlockID());
    if (Begins || (Busy[B->getBlockID()] && (S.Mirror != S.Order || Staged)))
      append(Out.Blocks, {S.Order, S.Mirror, Begins, Staged,
                          Staged ? Turns.at(B->getBlockID()) : 0});
  }
}

void Body::read(const CFGBlock &B) {
  Here = {B.getBlockID(), Blocks[B.getBlockID()]};
  for (const CFGElement &E : B) {
    switch (E.getKind()) {
    case CFGElement::Statement:
    case CFGElement::Constructor:
    case CFGElement::CXXRecordTypedCall:
      statement(*E.castAs<CFGStmt>().getStmt());
      break;
    case CFGElement::Initializer:
      initialised(*E.castAs<CFGInitializer>().getInitializer());
      break;
    case CFGElement::AutomaticObjectDtor: {
      auto D = E.castAs<CFGAutomaticObjDtor>();
      SourceLocation Where = D.getTriggerStmt()
                                 ? D.getTriggerStmt()->getEndLoc()
                                 : D.getVarDecl()->getLocation();
      destroyed(D.getDestructorDecl(Context), D.getVarDecl(), Where);
      if (!Seen.GivenUp.contains(D.getVarDecl()))
        joined(D.getVarDecl()->getType(), D.getDestructorDecl(Context), Where);
      break;
    }
    case CFGElement::MemberDtor: {
      const FieldDecl &Field = *E.castAs<CFGMemberDtor>().getFieldDecl();
      joined(Field.getType(), nullptr, Function->getEndLoc());
      break;
    }
    case CFGElement::DeleteDtor: {
      const CXXDeleteExpr &D = *E.castAs<CFGDeleteDtor>().getDeleteExpr();
      joined(D.getDestroyedType(), nullptr, D.getExprLoc());
      break;
    }
    case CFGElement::TemporaryDtor: {
      auto D = E.castAs<CFGTemporaryDtor>();
      const CXXBindTemporaryExpr *Made = D.getBindTemporaryExpr();
      destroyed(D.getDestructorDecl(Context),
                Made->getSubExpr()->IgnoreImplicit(), Made->getEndLoc());
      break;
    }
    case CFGElement::CleanupFunction: {
      auto C = E.castAs<CFGCleanupFunction>();
      if (const FunctionDecl *F = C.getFunctionDecl())
        cleanup(*F, *C.getVarDecl());
      break;
    }
    default:
      break;
    }
  }
  branch(B);
}

void Body::statement(const Stmt &S) {
  if (!Seen.Unevaluated.empty() && Seen.Unevaluated.contains(&S))
    return;
  Atomic = false;
  Critical = 0;
  if (!Seen.Marks.empty())
    if (auto M = Seen.Marks.find(&S); M != Seen.Marks.end()) {
      Atomic = M->second.Atomic;
      Critical = criticalMask(M->second.Critical);
    }
  switch (S.getStmtClass()) {
  case Stmt::ImplicitCastExprClass:
  case Stmt::CStyleCastExprClass:
  case Stmt::CXXStaticCastExprClass:
  case Stmt::CXXReinterpretCastExprClass:
  case Stmt::CXXFunctionalCastExprClass:
    return castTo(*cast<CastExpr>(&S));
  case Stmt::UnaryOperatorClass:
    return unary(*cast<UnaryOperator>(&S));
  case Stmt::BinaryOperatorClass:
  case Stmt::CompoundAssignOperatorClass:
    return binary(*cast<BinaryOperator>(&S));
  case Stmt::MemberExprClass: {
    // A member that is a reference is itself read.
    const auto *M = cast<MemberExpr>(&S);
    const auto *F = dyn_cast<FieldDecl>(M->getMemberDecl());
    if (F && F->getType()->isReferenceType())
      access(At.member(At.receiver(M->getBase()), *F), Context.VoidPtrTy,
             AccessKind::Load, MemoryOrder::Plain, M->getMemberLoc());
    return;
  }
  case Stmt::CallExprClass:
  case Stmt::CXXMemberCallExprClass:
  case Stmt::CXXOperatorCallExprClass:
  case Stmt::UserDefinedLiteralClass:
    return call(*cast<CallExpr>(&S));
  case Stmt::CXXConstructExprClass:
  case Stmt::CXXTemporaryObjectExprClass:
    return construct(*cast<CXXConstructExpr>(&S));
  case Stmt::CXXNewExprClass:
    return allocates(*cast<CXXNewExpr>(&S));
  case Stmt::AtomicExprClass:
    if (auto Use = atomicUse(*cast<AtomicExpr>(&S), Context))
      atomic(*Use, *cast<Expr>(&S));
    return;
  case Stmt::DeclStmtClass:
    for (const Decl *D : cast<DeclStmt>(&S)->decls())
      if (const auto *V = dyn_cast<VarDecl>(D))
        declared(*V);
    return;
  case Stmt::ReturnStmtClass:
    if (const Expr *Value = cast<ReturnStmt>(&S)->getRetValue())
      escapes(Value);
    return;
  case Stmt::InitListExprClass:
    for (const Expr *Value : cast<InitListExpr>(&S)->inits())
      escapes(Value);
    return;
  case Stmt::GCCAsmStmtClass:
    return assembly(*cast<GCCAsmStmt>(&S));
  default:
    if (const auto *D = dyn_cast<OMPExecutableDirective>(&S))
      regions(*D);
    return;
  }
}

/// A pointer to the first member that is cast to one to the whole.
void Body::toWhole(const CastExpr &C) {
  QualType From = C.getSubExpr()->getType();
  if (!C.getType()->isPointerType() || !From->isPointerType())
    return;
  const RecordDecl *Part = From->getPointeeType()->getAsRecordDecl();
  const RecordDecl *Whole = C.getType()->getPointeeType()->getAsRecordDecl();
  Whole = Whole ? Whole->getDefinition() : nullptr;
  if (!Part || !Whole || Whole->isUnion() || Whole->field_empty())
    return;
  const RecordDecl *First =
      (*Whole->field_begin())->getType()->getAsRecordDecl();
  if (First && First->getCanonicalDecl() == Part->getCanonicalDecl())
    Unit.derives(*Whole);
}

/// Memory that becomes an object of a record by a cast: of an allocator that
/// nobody knows, a part of a buffer.  What a function is given as `void *` was
/// something else before, and who has a whole may have its beginning.
void Body::madeByCast(const CastExpr &C) {
  if (!C.getType()->isPointerType())
    return;
  QualType T = C.getType()->getPointeeType();
  const RecordDecl *To = T->getAsRecordDecl();
  const Expr *Sub = C.getSubExpr()->IgnoreParenCasts();
  if (!To)
    return;
  if (const auto *Ref = dyn_cast<DeclRefExpr>(Sub);
      Ref && isa<ParmVarDecl>(Ref->getDecl()) &&
      Sub->getType()->isVoidPointerType())
    return;
  QualType From = C.getSubExpr()->getType();
  if (From->isPointerType()) {
    const RecordDecl *Whole = From->getPointeeType()->getAsRecordDecl();
    Whole = Whole ? Whole->getDefinition() : nullptr;
    const RecordDecl *First =
        Whole && !Whole->field_empty()
            ? (*Whole->field_begin())->getType()->getAsRecordDecl()
            : nullptr;
    if (First && First->getCanonicalDecl() == To->getCanonicalDecl())
      return;
  }
  Unit.makes(T);
}

void Body::castTo(const CastExpr &C) {
  const Expr *Sub = C.getSubExpr();
  switch (C.getCastKind()) {
  case CK_LValueToRValue:
    return access(*Sub, AccessKind::Load);
  case CK_FunctionToPointerDecay:
    if (const auto *Ref = dyn_cast<DeclRefExpr>(Sub->IgnoreParens()))
      if (const auto *F = dyn_cast<FunctionDecl>(Ref->getDecl()))
        Taken.emplace_back(Ref, F);
    return;
  case CK_IntegralToPointer:
    return madeByCast(C);
  case CK_BitCast: {
    toWhole(C);
    madeByCast(C);
    auto It = Allocated.find(Sub->IgnoreParenImpCasts());
    if (It == Allocated.end())
      return reserved(C);
    if (Out.Allocations[It->second].Record >= 0)
      return;
    QualType T = C.getType()->getPointeeType();
    if (const RecordDecl *R = T->getAsRecordDecl()) {
      AllocationFact &A = Out.Allocations[It->second];
      A.Record = Unit.record(*R);
      A.ByNumber = byNumber(*cast<CallExpr>(It->first), T);
    }
    return;
  }
  default:
    return;
  }
}

void Body::unary(const UnaryOperator &U) {
  if (U.isIncrementDecrementOp())
    return access(*U.getSubExpr(), AccessKind::Rmw);
  if (U.getOpcode() != UO_AddrOf)
    return;
  if (const auto *Ref = dyn_cast<DeclRefExpr>(U.getSubExpr()->IgnoreParens()))
    if (const auto *F = dyn_cast<FunctionDecl>(Ref->getDecl()))
      Taken.emplace_back(Ref, F);
}

void Body::binary(const BinaryOperator &B) {
  if (B.getOpcode() == BO_And)
    return rounded(B);
  if (!B.isAssignmentOp())
    return;
  if (B.isCompoundAssignmentOp())
    return access(*B.getLHS(), AccessKind::Rmw);
  access(*B.getLHS(), AccessKind::Store, B.getRHS());
  makesRoom(holderOf(B.getLHS()), *B.getRHS());
  const auto *Ref = dyn_cast<DeclRefExpr>(B.getLHS()->IgnoreParens());
  const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
  // What local pointers point to shows where they are used.
  if (!V || V->hasGlobalStorage())
    escapes(B.getRHS());
}

void Body::declared(const VarDecl &V) {
  if (V.hasLocalStorage())
    Unit.makes(V.getType());
  const Expr *Init = V.getInit();
  if (!Init)
    return;
  if (V.isStaticLocal()) {
    if (!V.hasConstantInitialization() &&
        !isa<CXXConstructExpr>(Init->IgnoreImplicit())) {
      Location P;
      P.In = Location::Kind::Variable;
      P.Var = &V;
      access(P, V.getType(), AccessKind::Store, MemoryOrder::Plain,
             V.getLocation());
    }
    return;
  }
  const Expr *From = Init->IgnoreImplicit();
  if (int Guard = Locks.findGuard(From); Guard >= 0 && isa<CallExpr>(From)) {
    int Mine = Locks.guard(&V);
    Locks.bindLike(Mine, Guard);
    step({LockStep::Op::GuardMoves, -1, Mine, Guard});
  }
  // References and pointers are followed.
  if (!V.getType()->isAnyPointerType() && !V.getType()->isReferenceType())
    escapes(Init);
}

void Body::initialised(const CXXCtorInitializer &Init) {
  const Expr *Value = Init.getInit();
  // In code with errors an initialiser may be a list without a type.
  if (!Init.isAnyMemberInitializer() || !Value || Value->getType().isNull() ||
      (Value->getType()->isRecordType() &&
       isa<CXXConstructExpr>(Value->IgnoreImplicit())))
    return;
  const auto *Method = dyn_cast_or_null<CXXMethodDecl>(Function);
  const FieldDecl *Field = Init.getAnyMember();
  if (!Method || !Field)
    return;
  makesRoom(Field, *Value);
  Location P;
  P.In = Location::Kind::Parameter;
  P.Record = Method->getParent();
  if (Field->getParent() != P.Record)
    return; // of an anonymous union
  QualType Stored = Field->getType()->isReferenceType() ? Context.VoidPtrTy
                                                        : Field->getType();
  access(At.member(P, *Field), Stored, AccessKind::Store, MemoryOrder::Plain,
         Init.getSourceLocation());
  escapes(Value);
}

/// Memory operands; a lock prefix makes them atomic.
void Body::assembly(const GCCAsmStmt &A) {
  StringRef Text = A.getAsmString()->getString();
  MemoryOrder Order = Text.contains("lock") || Text.contains("xchg")
                          ? MemoryOrder::SeqCst
                          : MemoryOrder::Plain;
  auto Operand = [&](const Expr *E, StringRef Constraint, AccessKind Kind) {
    if (Constraint.find_first_of("mQVo") == StringRef::npos)
      return;
    Location P = At.object(E);
    access(P, E->getType(), Kind, Order, E->getExprLoc());
  };
  for (unsigned I = 0; I < A.getNumOutputs(); ++I) {
    StringRef C = A.getOutputConstraint(I);
    Operand(A.getOutputExpr(I), C,
            C.starts_with("+") ? AccessKind::Rmw : AccessKind::Store);
  }
  for (unsigned I = 0; I < A.getNumInputs(); ++I)
    Operand(A.getInputExpr(I), A.getInputConstraint(I), AccessKind::Load);
}

void Body::finish() {
  llvm::DenseSet<int64_t> Seen;
  for (const auto &[E, F] : Taken) {
    if (llvm::is_contained(Started, F->getCanonicalDecl()))
      continue;
    int64_t Symbol = Unit.symbol(*F);
    if (Symbol >= 0 && Seen.insert(Symbol).second)
      Out.Taken.push_back(Symbol);
  }
}

} // namespace linemate
