//===- Scan.cpp - First look at a function body ---------------------------===//
//
// Owns the walk over all statements of a body, without recursion, since
// generated code nests deeply.
//
//===----------------------------------------------------------------------===//

#include "Scan.h"

#include "clang/Basic/Builtins.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;

namespace linemate {

namespace {

const VarDecl *localOf(const Expr *E) {
  const auto *Ref = dyn_cast<DeclRefExpr>(E->IgnoreParens());
  const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
  return V && !V->hasGlobalStorage() ? V : nullptr;
}

/// Is it a pointer to a function, or an array of such?
bool holdsFunctions(QualType T) {
  while (const auto *A = T->getAsArrayTypeUnsafe())
    T = A->getElementType();
  return T->isFunctionPointerType();
}

/// A pointer to a method is followed like one to a function.
bool isPointer(QualType T) {
  return T->isAnyPointerType() || T->isMemberPointerType();
}

bool isFollowed(const ValueDecl &V) {
  return isPointer(V.getType()) || V.getType()->isReferenceType();
}

/// The local object of a class that an expression names, or null.
const VarDecl *objectOf(const Expr *E) {
  const VarDecl *V = localOf(E->IgnoreImplicit());
  return V && V->getType()->isRecordType() ? V : nullptr;
}

/// Methods behind which an object has no thread, if it had one.
bool givesUp(const CXXMethodDecl &M) {
  return M.getIdentifier() && llvm::StringSwitch<bool>(M.getName())
                                  .Cases("join", "detach", "swap", true)
                                  .Cases("clear", "reset", "release", true)
                                  .Default(false);
}

/// What makes the new object that \p V owns from its declaration on, or null.
const Expr *ownedBy(const VarDecl &V) {
  constexpr unsigned MaxSteps = 8; // objects that are made of temporary ones
  const auto *R = V.getType()->getAsCXXRecordDecl();
  if (!R || !R->isInStdNamespace() || !R->getIdentifier() ||
      (R->getName() != "unique_ptr" && R->getName() != "shared_ptr"))
    return nullptr;
  const Expr *E = V.getInit();
  for (unsigned Steps = 0; E && Steps < MaxSteps; ++Steps) {
    E = E->IgnoreParenImpCasts();
    if (isa<CXXNewExpr>(E))
      return E;
    if (const auto *Whole = dyn_cast<FullExpr>(E)) {
      E = Whole->getSubExpr();
    } else if (const auto *Bound = dyn_cast<CXXBindTemporaryExpr>(E)) {
      E = Bound->getSubExpr();
    } else if (const auto *Kept = dyn_cast<MaterializeTemporaryExpr>(E)) {
      E = Kept->getSubExpr();
    } else if (const auto *Made = dyn_cast<CXXConstructExpr>(E)) {
      E = Made->getNumArgs() ? Made->getArg(0) : nullptr;
    } else {
      const auto *C = dyn_cast<CallExpr>(E);
      const FunctionDecl *F = C ? C->getDirectCallee() : nullptr;
      return F && makesOwned(*F) ? E : nullptr;
    }
  }
  return nullptr;
}

/// The initialiser, be it of the constructor or of the member.
const Expr *given(const Expr *E) {
  E = E->IgnoreImplicit();
  if (const auto *Default = dyn_cast<CXXDefaultInitExpr>(E))
    E = Default->getExpr()->IgnoreImplicit();
  if (const auto *List = dyn_cast<InitListExpr>(E);
      List && List->getNumInits() == 1 && List->getType()->isRecordType())
    E = List->getInit(0)->IgnoreImplicit();
  return E;
}

/// Is \p V among the names of \p E?  Of a large expression, its first ones.
bool mentions(const Expr *E, const VarDecl &V) {
  constexpr unsigned MaxNodes = 64;
  llvm::SmallVector<const Stmt *, 16> Work{E};
  for (unsigned Seen = 0; !Work.empty() && Seen < MaxNodes; ++Seen) {
    const Stmt *S = Work.pop_back_val();
    if (const auto *Ref = dyn_cast<DeclRefExpr>(S); Ref && Ref->getDecl() == &V)
      return true;
    for (const Stmt *Child : S->children())
      if (Child)
        Work.push_back(Child);
  }
  return false;
}

/// Builtins that look at their arguments without running them.
bool looksOnly(const CallExpr &Call) {
  switch (Call.getBuiltinCallee()) {
  case Builtin::BI__builtin_constant_p:
  case Builtin::BI__builtin_object_size:
  case Builtin::BI__builtin_dynamic_object_size:
  case Builtin::BI__builtin_classify_type:
    return true;
  default:
    return false;
  }
}

} // namespace

const VarDecl *functionVariable(const Expr *E) {
  E = E->IgnoreParens();
  while (const auto *Element = dyn_cast<ArraySubscriptExpr>(E)) {
    E = Element->getBase()->IgnoreParenImpCasts();
    if (!E->getType()->isArrayType())
      return nullptr;
  }
  const auto *Ref = dyn_cast<DeclRefExpr>(E);
  const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
  return V && V->hasGlobalStorage() && holdsFunctions(V->getType()) ? V
                                                                    : nullptr;
}

bool makesOwned(const FunctionDecl &F) {
  return F.isInStdNamespace() && F.getIdentifier() &&
         (F.getName().starts_with("make_unique") ||
          F.getName().starts_with("make_shared"));
}

const CapturedStmt *parallelBody(const OMPExecutableDirective &D) {
  OpenMPDirectiveKind Kind = D.getDirectiveKind();
  if (!isOpenMPParallelDirective(Kind) && !isOpenMPTaskingDirective(Kind) &&
      !isOpenMPTeamsDirective(Kind) && !isOpenMPTargetExecutionDirective(Kind))
    return nullptr;
  return D.hasAssociatedStmt() ? dyn_cast<CapturedStmt>(D.getAssociatedStmt())
                               : nullptr;
}

const Stmt *regionBody(const OMPExecutableDirective &D) {
  if (isa<OMPSectionDirective>(D))
    return D.hasAssociatedStmt() ? D.getAssociatedStmt() : nullptr;
  const CapturedStmt *Captured = parallelBody(D);
  if (!Captured)
    return nullptr;
  const CapturedStmt *Innermost = D.getInnermostCapturedStmt();
  return (Innermost ? Innermost : Captured)->getCapturedStmt();
}

/// All that has the default kind of sharing or is said to be shared; what a
/// clause makes private each thread has a copy of.
void Scan::share(const OMPExecutableDirective &D) {
  const CapturedStmt *Captured = parallelBody(D);
  if (!Captured)
    return; // a section has what the region around it has
  for (const CapturedStmt::Capture &C : Captured->captures())
    if (C.capturesVariable())
      Shared.insert(C.getCapturedVar());
  for (const OMPClause *Clause : D.clauses()) {
    switch (Clause->getClauseKind()) {
    case llvm::omp::OMPC_private:
    case llvm::omp::OMPC_firstprivate:
    case llvm::omp::OMPC_lastprivate:
    case llvm::omp::OMPC_linear:
    case llvm::omp::OMPC_reduction:
    case llvm::omp::OMPC_in_reduction:
    case llvm::omp::OMPC_task_reduction:
      for (const Stmt *Named : const_cast<OMPClause *>(Clause)->children())
        if (const auto *Ref = dyn_cast_or_null<DeclRefExpr>(Named))
          Shared.erase(dyn_cast<VarDecl>(Ref->getDecl()));
      break;
    default:
      break;
    }
  }
}

void Scan::add(const Stmt *Body) {
  if (!Body)
    return;
  Work.push_back({Body, nullptr, As::Usual});
  while (!Work.empty()) {
    Item I = Work.pop_back_val();
    see(I);
  }
  Looping = false;
}

void Scan::add(const CXXConstructorDecl &Constructor) {
  for (const CXXCtorInitializer *Init : Constructor.inits()) {
    const Expr *Value = Init->getInit();
    if (Init->isAnyMemberInitializer() && Value)
      Made[given(Value)] = Init->getAnyMember();
    const FieldDecl *Field = Init->getMember();
    if (Field && Value && isFollowed(*Field))
      Fields[Field] = Value;
    keeps(Field, Value);
    add(Value);
  }
}

void Scan::add(const VarDecl &Global) {
  declare(Global);
  add(Global.getInit());
}

void Scan::declare(const VarDecl &V) {
  const Expr *Init = V.getInit();
  if (Init && !V.hasGlobalStorage() && isFollowed(V))
    Locals[&V].Values.push_back(Init);
  if (Init)
    Made[Init->IgnoreImplicit()] = &V;
  if (Init && !V.hasGlobalStorage())
    if (const Expr *Owned = ownedBy(V))
      Owners[&V] = Owned;
  if (Init && V.hasGlobalStorage() && holdsFunctions(V.getType()))
    keeps(V, *Init);
  if (Init && !V.hasGlobalStorage() && V.getType()->isIntegerType() &&
      isa<CallExpr>(Init->IgnoreParenImpCasts()))
    Results[&V].push_back(Init);
  if (Init && !V.hasGlobalStorage() && V.getType()->isIntegerType()) {
    LocalNumber &N = Numbers[&V];
    N.Values.push_back(Init);
    N.InLoop |= Looping;
  }
  if (const auto *Split = dyn_cast<DecompositionDecl>(&V))
    for (const BindingDecl *B : Split->bindings())
      if (const VarDecl *Holder = B->getHoldingVar())
        declare(*Holder);
}

void Scan::value(const Expr *Target, const Expr *Value) {
  if (const VarDecl *V = localOf(Target); V && isPointer(V->getType())) {
    Locals[V].Values.push_back(Value);
    ++Locals[V].Harmless;
  } else if (V && V->getType()->isIntegerType()) {
    Results[V].push_back(Value);
    LocalNumber &N = Numbers[V];
    N.Values.push_back(Value);
    N.Counts |= mentions(Value, *V);
    N.InLoop |= Looping;
  }
}

void Scan::harmless(const Expr *Target, bool Steps) {
  const VarDecl *V = localOf(Target);
  if (V && Steps && V->getType()->isIntegerType())
    Numbers[V].Counts = true;
  if (!V || !isPointer(V->getType()))
    return;
  LocalValues &L = Locals[V];
  ++L.Harmless;
  L.Stepped |= Steps;
}

void Scan::assign(const BinaryOperator &B) {
  if (B.getOpcode() == BO_Assign) {
    value(B.getLHS(), B.getRHS());
    if (const auto *M = dyn_cast<MemberExpr>(B.getLHS()->IgnoreParens()))
      keeps(dyn_cast<FieldDecl>(M->getMemberDecl()), B.getRHS());
    if (const VarDecl *V = functionVariable(B.getLHS())) {
      --HandedOut[V];
      Functions.emplace_back(V, B.getRHS());
    }
  } else if (B.isCompoundAssignmentOp()) {
    harmless(B.getLHS(), /*Steps=*/true);
    const VarDecl *V = localOf(B.getLHS());
    if (V && isPointer(V->getType()) &&
        !B.getRHS()->isEvaluatable(V->getASTContext()))
      Locals[V].Leaps = true;
  }
}

/// Local objects that are assigned, swapped or reset.
void Scan::rebound(const CallExpr &Call) {
  const FunctionDecl *F = Call.getDirectCallee();
  if (!F)
    return;
  const auto *Operator = dyn_cast<CXXOperatorCallExpr>(&Call);
  const auto *Member = dyn_cast<CXXMemberCallExpr>(&Call);
  bool Changes =
      F->getIdentifier() && llvm::StringSwitch<bool>(F->getName())
                                .Cases("reset", "swap", "exchange", true)
                                .Default(false);
  if (Operator && Operator->getOperator() == OO_Equal)
    Changes = true;
  if (!Changes)
    return;
  if (const VarDecl *V =
          Member ? objectOf(Member->getImplicitObjectArgument()) : nullptr)
    Rebound.insert(V);
  for (const Expr *Arg : Call.arguments())
    if (const VarDecl *V = objectOf(Arg))
      Rebound.insert(V);
}

/// Local objects that are moved from, or that do no longer hold what they did.
void Scan::givenUp(const CallExpr &Call) {
  const FunctionDecl *F = Call.getDirectCallee();
  if (!F || !F->getIdentifier())
    return;
  const auto *Member = dyn_cast<CXXMemberCallExpr>(&Call);
  const auto *Method = dyn_cast<CXXMethodDecl>(F);
  if (Member && Method && givesUp(*Method))
    givenUp(Member->getImplicitObjectArgument());
  if (!Method && F->isInStdNamespace() &&
      (F->getName() == "move" || F->getName() == "swap" ||
       F->getName() == "exchange"))
    for (const Expr *Arg : Call.arguments())
      givenUp(Arg);
}

void Scan::givenUp(const Expr *Object) {
  Object = Object->IgnoreImplicit();
  if (const auto *C = dyn_cast<CXXConstructExpr>(Object))
    if (C->getConstructor()->isMoveConstructor())
      Object = C->getArg(0);
  if (const VarDecl *V = objectOf(Object))
    GivenUp.insert(V);
}

/// Pointers to functions that are members are followed for the whole unit.
void Scan::keeps(const FieldDecl *Field, const Expr *Value) {
  if (Field && Value && Field->getType()->isFunctionPointerType())
    Functions.emplace_back(Field, Value);
}

/// What a variable, or its elements, are at first.
void Scan::keeps(const VarDecl &V, const Expr &Initial) {
  llvm::SmallVector<const Expr *, 8> Values{&Initial};
  while (!Values.empty()) {
    const Expr *E = Values.pop_back_val();
    if (const auto *List = dyn_cast<InitListExpr>(E))
      Values.append(List->inits().begin(), List->inits().end());
    else if (E->getType()->isFunctionPointerType())
      Functions.emplace_back(&V, E);
  }
}

void Scan::keeps(const InitListExpr &List) {
  const RecordDecl *R = List.getType()->getAsRecordDecl();
  const auto *Class = dyn_cast_or_null<CXXRecordDecl>(R);
  if (!R || R->isUnion() || (Class && Class->getNumBases()))
    return;
  unsigned At = 0;
  for (const FieldDecl *Field : R->fields())
    if (!Field->isUnnamedBitField() && At < List.getNumInits())
      keeps(Field, List.getInit(At++));
}

void Scan::see(const Item &I) {
  const Stmt *S = I.S;
  As How = I.How;
  const OMPCriticalDirective *Critical = I.Critical;
  bool Loops = I.Loops || isa<ForStmt, WhileStmt, DoStmt, CXXForRangeStmt>(S);
  Looping = I.Loops;
  if (How == As::Unevaluated)
    Unevaluated.insert(S);
  else if (How == As::Atomic || Critical)
    Marks[S] = {Critical, How == As::Atomic};

  switch (S->getStmtClass()) {
  case Stmt::UnaryExprOrTypeTraitExprClass:
    return; // the graph has none of its operand either
  case Stmt::CXXNoexceptExprClass:
    How = As::Unevaluated;
    break;
  case Stmt::CXXTypeidExprClass:
    if (!cast<CXXTypeidExpr>(S)->isPotentiallyEvaluated())
      How = As::Unevaluated;
    break;
  case Stmt::GenericSelectionExprClass: {
    const auto *G = cast<GenericSelectionExpr>(S);
    if (!G->isResultDependent())
      Work.push_back({G->getResultExpr(), Critical, How, Loops});
    return;
  }
  case Stmt::LambdaExprClass: {
    const auto *L = cast<LambdaExpr>(S);
    Lambdas.push_back(L->getLambdaClass());
    for (const Expr *Init : L->capture_inits())
      if (Init)
        Work.push_back({Init, Critical, How, Loops});
    return;
  }
  case Stmt::DeclStmtClass:
    for (const Decl *D : cast<DeclStmt>(S)->decls()) {
      if (const auto *V = dyn_cast<VarDecl>(D))
        declare(*V);
      else if (const auto *R = dyn_cast<RecordDecl>(D))
        LocalRecords.push_back(R);
    }
    break;
  case Stmt::BinaryOperatorClass:
  case Stmt::CompoundAssignOperatorClass:
    assign(*cast<BinaryOperator>(S));
    break;
  case Stmt::UnaryOperatorClass:
    if (cast<UnaryOperator>(S)->isIncrementDecrementOp())
      harmless(cast<UnaryOperator>(S)->getSubExpr(), /*Steps=*/true);
    break;
  case Stmt::ImplicitCastExprClass:
    if (const Expr *E = cast<CastExpr>(S)->getSubExpr();
        cast<CastExpr>(S)->getCastKind() == CK_LValueToRValue) {
      harmless(E, /*Steps=*/false);
      if (const VarDecl *V = functionVariable(E))
        --HandedOut[V];
    }
    break;
  case Stmt::DeclRefExprClass:
    if (const VarDecl *V = localOf(cast<Expr>(S)); V && isPointer(V->getType()))
      ++Locals[V].Uses;
    if (const VarDecl *V = functionVariable(cast<Expr>(S)))
      ++HandedOut[V];
    return;
  case Stmt::CallExprClass:
  case Stmt::CXXMemberCallExprClass:
  case Stmt::CXXOperatorCallExprClass: {
    const auto *Call = cast<CallExpr>(S);
    if (const FunctionDecl *Callee = Call->getDirectCallee())
      Callees.push_back(Callee);
    if (looksOnly(*Call))
      How = As::Unevaluated;
    if (const FunctionDecl *Callee = Call->getDirectCallee();
        Callee && Callee->getIdentifier() && Call->getNumArgs() == 1 &&
        Callee->getName() == "omp_set_num_threads")
      ThreadsSet.push_back(Call->getArg(0));
    givenUp(*Call);
    rebound(*Call);
    break;
  }
  case Stmt::ReturnStmtClass:
    if (const Expr *Value = cast<ReturnStmt>(S)->getRetValue())
      givenUp(Value);
    break;
  case Stmt::CXXConstructExprClass:
  case Stmt::CXXTemporaryObjectExprClass:
    Callees.push_back(cast<CXXConstructExpr>(S)->getConstructor());
    if (const CXXDestructorDecl *End =
            Callees.back()->isUserProvided()
                ? cast<CXXConstructorDecl>(Callees.back())
                      ->getParent()
                      ->getDestructor()
                : nullptr)
      Callees.push_back(End);
    break;
  case Stmt::InitListExprClass:
    keeps(*cast<InitListExpr>(S));
    break;
  case Stmt::OMPCriticalDirectiveClass:
    Critical = cast<OMPCriticalDirective>(S);
    break;
  case Stmt::OMPAtomicDirectiveClass:
    How = As::Atomic;
    break;
  case Stmt::OpaqueValueExprClass:
    return; // its source stands elsewhere in the tree
  default:
    break;
  }
  if (const auto *L = dyn_cast<OMPForDirective>(S))
    this->Loops.push_back(L);
  if (const auto *D = dyn_cast<OMPExecutableDirective>(S);
      D && How != As::Unevaluated && regionBody(*D)) {
    Regions.push_back(D);
    How = As::Unevaluated; // here; it is a function of its own
  }
  if (const auto *Captured = dyn_cast<CapturedStmt>(S)) {
    // Its children name what is captured; what becomes of that says its body.
    Work.push_back({Captured->getCapturedStmt(), Critical, How, Loops});
    return;
  }
  for (const Stmt *Child : S->children())
    if (Child)
      Work.push_back({Child, Critical, How, Loops});
}

} // namespace linemate
