//===- Calls.cpp - Calls, constructors and destructors --------------------===//
//
// Owns the rows of calls, and what calls of the standard library do to their
// object, since its bodies are not read.  What calls pass is Arguments.cpp's.
//
//===----------------------------------------------------------------------===//

#include "Body.h"
#include "Chance.h"
#include "Columns.h"

#include "QualifiedName.h"

#include "clang/Basic/Builtins.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;

namespace linemate {

namespace {

/// Methods without const that only read the bytes of the object itself.
bool onlyReads(const CXXMethodDecl &M) {
  if (M.isConst())
    return true;
  OverloadedOperatorKind Op = M.getOverloadedOperator();
  if (Op == OO_Subscript || Op == OO_Arrow || Op == OO_Star || Op == OO_Call)
    return true;
  if (!M.getIdentifier())
    return false;
  return llvm::StringSwitch<bool>(M.getName())
      .Cases("begin", "end", "rbegin", "rend", "data", true)
      .Cases("front", "back", "at", "find", "get", "value", "top", true)
      .Cases("lower_bound", "upper_bound", "equal_range", true)
      .Default(false);
}

bool releases(LockEffect E) { return E == LockEffect::Unlock; }

/// The one that is overridden first: calls through the table are told by it.
const CXXMethodDecl &firstVirtual(const CXXMethodDecl &M) {
  const CXXMethodDecl *At = &M;
  while (At->size_overridden_methods())
    At = *At->begin_overridden_methods();
  return *At->getCanonicalDecl();
}

} // namespace

uint32_t Body::callRow(const FunctionDecl *F, bool Virtual,
                       SourceLocation Where) {
  return callRow(F && !Virtual ? Unit.symbol(*F) : -1, Where);
}

/// A call through the table of an object that \p Object says the class of.
int64_t Body::virtualCallee(const CXXMethodDecl &M, const Expr *Object) {
  if (isa<CXXDestructorDecl>(M))
    return -1;
  const CXXRecordDecl *Of =
      Object ? Object->getBestDynamicClassType() : nullptr;
  if (!Of || !Of->isDerivedFrom(M.getParent()))
    Of = M.getParent();
  int64_t Slot = Unit.slot(firstVirtual(M), *Of);
  if (!M.isPureVirtual() && Of != M.getParent())
    Unit.keeps(Slot, Unit.symbol(M)); // as a class has it that overrides none
  return -2 - Slot;
}

uint32_t Body::callRow(int64_t Callee, SourceLocation Where) {
  uint32_t Number = uint32_t(Out.Calls.size() / CallColumns);
  Events.push_back({Here.Block, Row::Call, Number, Critical});
  Out.Calls.push_back(Callee);
  position(Out.Calls, Where);
  append(Out.Calls, {int64_t(Here.Shape.LoopDepth), int64_t(Here.Shape.Rarity),
                     int64_t(Here.Shape.Order), int64_t(0)});
  return Number;
}

/// The member or static variable that a pointer to a function was loaded from,
/// or null: as it stands, or by way of a local that is nothing else.
const ValueDecl *Body::loadedFrom(const Expr *Function) const {
  const Expr *E = Function->IgnoreParenCasts();
  if (const auto *U = dyn_cast<UnaryOperator>(E);
      U && U->getOpcode() == UO_Deref)
    E = U->getSubExpr()->IgnoreParenCasts();
  if (const VarDecl *V = functionVariable(E))
    return V;
  if (const auto *Ref = dyn_cast<DeclRefExpr>(E)) {
    const auto *V = dyn_cast<VarDecl>(Ref->getDecl());
    auto Found = V ? Seen.Locals.find(V) : Seen.Locals.end();
    if (!V || isa<ParmVarDecl>(V) || Found == Seen.Locals.end() ||
        Found->second.escapes() || Found->second.Values.size() != 1)
      return nullptr;
    E = Found->second.Values.front()->IgnoreParenCasts();
    if (const VarDecl *Kept = functionVariable(E))
      return Kept;
  }
  const auto *M = dyn_cast<MemberExpr>(E);
  const auto *Field = M ? dyn_cast<FieldDecl>(M->getMemberDecl()) : nullptr;
  return Field && Field->getType()->isFunctionPointerType() ? Field : nullptr;
}

/// Sleep, and a wait that ends after a time, whatever happens.  Methods that
/// are handed a condition as well wait for that.
static bool waitsForATime(const FunctionDecl &F, const CallExpr &C) {
  const IdentifierInfo *Id = F.getIdentifier();
  StringRef Name = Id ? Id->getName() : StringRef();
  if (Name == "sleep_for" || Name == "sleep_until")
    return !isa<CXXMethodDecl>(F);
  if (!Name.contains("wait"))
    return false;
  if (!isa<CXXMethodDecl>(F))
    return Name.contains("timed") || Name.contains("clock") ||
           Name.ends_with("_until");
  return C.getNumArgs() == 2 &&
         (Name.ends_with("_for") || Name.ends_with("_until"));
}

/// As pthread_once is, which calls that; of lambdas who calls them is known.
static bool isHandedFunction(const CallExpr &C) {
  return llvm::any_of(C.arguments(), [](const Expr *Arg) {
    const Expr *Plain = Arg->IgnoreParenImpCasts();
    if (const auto *Of = dyn_cast<UnaryOperator>(Plain);
        Of && Of->getOpcode() == UO_AddrOf)
      Plain = Of->getSubExpr()->IgnoreParenImpCasts();
    const auto *Ref = dyn_cast<DeclRefExpr>(Plain);
    return Ref && isa<FunctionDecl>(Ref->getDecl());
  });
}

/// As std::call_once does what it is handed.
static bool callsOnce(const FunctionDecl &F, const Knowledge &Rows) {
  return F.getIdentifier() &&
         llvm::any_of(Rows.qualifiedLockCalls(qualifiedName(F)),
                      [](const LockCall &Call) {
                        return Call.Effect == LockEffect::Init;
                      });
}

/// The constructor that std::make_unique or std::make_shared calls with so many
/// arguments, whose body is not read; null where it may be one of several.
static const CXXConstructorDecl *madeBy(const FunctionDecl &F,
                                        unsigned Arguments) {
  const TemplateArgumentList *Of = F.getTemplateSpecializationArgs();
  if (!makesOwned(F) || !Of || Of->size() == 0 ||
      Of->get(0).getKind() != TemplateArgument::Type)
    return nullptr;
  const CXXRecordDecl *Made = Of->get(0).getAsType()->getAsCXXRecordDecl();
  if (!Made || !(Made = Made->getDefinition()))
    return nullptr;
  const CXXConstructorDecl *Found = nullptr;
  for (const Decl *D : Made->decls()) {
    const auto *Any = dyn_cast<FunctionTemplateDecl>(D);
    if (isa<ConstructorUsingShadowDecl>(D) ||
        (Any && isa<CXXConstructorDecl>(Any->getTemplatedDecl())))
      return nullptr;
    const auto *Own = dyn_cast<CXXConstructorDecl>(D);
    if (!Own || Own->isDeleted() ||
        (Own->isImplicit() && Own->isCopyOrMoveConstructor()) ||
        Own->getMinRequiredArguments() > Arguments ||
        (Own->getNumParams() < Arguments && !Own->isVariadic()))
      continue;
    if (Found)
      return nullptr;
    Found = Own;
  }
  return Found && !Found->isTrivial() ? Found : nullptr;
}

void Body::call(const CallExpr &C) {
  const FunctionDecl *F = C.getDirectCallee();
  SourceLocation Where = C.getExprLoc();
  const Expr *Named = C.getCallee()->IgnoreParenImpCasts();
  for (size_t I = Taken.size(); F && I-- > 0;)
    if (Taken[I].first == Named) {
      Taken.erase(Taken.begin() + ptrdiff_t(I));
      break;
    }
  if (auto Use = atomicUse(C, Context))
    return atomic(*Use, C);
  if (!F) {
    uint32_t Row = callRow(nullptr, true, Where);
    if (const auto *Place =
            dyn_cast_or_null<FieldDecl>(loadedFrom(C.getCallee())))
      Out.Calls[Row * CallColumns] = -2 - Unit.slot(*Place);
    else
      calledParameter(Row, C.getCallee());
    for (unsigned I = 0; I < C.getNumArgs(); ++I)
      argument(Row, I, C.getArg(I));
    return;
  }
  if (F->getBuiltinID() == Builtin::BI__builtin_assume_aligned)
    assumed(C);
  if (unsigned Id = F->getBuiltinID())
    if (!Context.BuiltinInfo.isLibFunction(Id) &&
        !Context.BuiltinInfo.isPredefinedLibFunction(Id) &&
        !Context.BuiltinInfo.isHeaderDependentFunction(Id))
      return;
  const auto *Member = dyn_cast<CXXMemberCallExpr>(&C);
  const auto *Method = dyn_cast<CXXMethodDecl>(F);
  if (starts(C) || standardLock(C))
    return;
  if (Member && guardCall(*Member))
    return;
  if (isa<CXXConversionDecl>(F) &&
      cast<CXXConversionDecl>(F)->isLambdaToBlockPointerConversion())
    return;
  if (Method && Method->getParent()->isLambda() &&
      isa<CXXConversionDecl>(Method)) {
    Taken.emplace_back(nullptr, Method->getParent()->getLambdaCallOperator());
    return;
  }
  freed(C, *F);
  Actual A = actual(C);
  if (F->getIdentifier() && Unit.knowledge().isBarrier(qualifiedName(*F))) {
    if (waitsForAll(qualifiedName(*F)))
      Turns.waits(Here.Block);
    return plainCall(Unit.symbol(*F), A, Where);
  }
  const Callee &Info = Known.of(*F);
  if (Info.IsPrimitive || Info.IsLibrary)
    if (waitsForATime(*F, C))
      callRow(F, false, Where); // its name says that it sleeps
  if (Info.IsPrimitive && F->getIdentifier() &&
      (Unit.knowledge().makesBarrier(qualifiedName(*F)) || isHandedFunction(C)))
    plainCall(Unit.symbol(*F), A, Where); // what it is handed tells
  if (Info.IsPrimitive) {
    // What it is handed runs in between: a condition to wait for, or what a
    // lock does for its caller.
    effects(Info, A, &C, Where, [](LockEffect E) { return !releases(E); });
    for (const Expr *Arg : C.arguments())
      if (const FunctionDecl *Asked = lambdaOf(Arg) ? callable(Arg) : nullptr)
        callRow(Asked, false, Where);
    effects(Info, A, &C, Where, releases);
    return;
  }
  if (Method && A.HasThis && !A.Args.empty()) {
    if (Method->isTrivial() && (Method->isCopyAssignmentOperator() ||
                                Method->isMoveAssignmentOperator())) {
      access(At.receiver(A.Args[0]), Context.getRecordType(Method->getParent()),
             AccessKind::Store, MemoryOrder::Plain, Where);
      if (A.Args.size() > 1)
        copied(*A.Args[1]);
      return;
    }
    if (Info.IsLibrary && library(*Method, C, *A.Args[0]))
      return allocates(C, *F); // as std::allocator does
  }
  if (Info.IsLibrary && !Method) {
    bool Swaps = F->getIdentifier() &&
                 (F->getName() == "swap" || F->getName() == "exchange");
    bool Once = callsOnce(*F, Unit.knowledge());
    for (const Expr *Arg : C.arguments()) {
      if (const FunctionDecl *Called =
              lambdaOf(Arg) ? callable(Arg) : nullptr) {
        uint32_t Row = callRow(Called, false, Where);
        if (Once)
          Out.Calls[Row * CallColumns + CallRarity] += FirstTimeSteps;
      } else if (Arg->isGLValue() && Arg->getType()->isScalarType()) {
        if (F->getIdentifier() &&
            (F->getName() == "move" || F->getName() == "forward" ||
             F->getName() == "addressof"))
          continue;
        access(*Arg, Swaps ? AccessKind::Rmw : AccessKind::Load);
      } else {
        escapes(Arg);
      }
    }
    // The constructor of a class with threads starts them; that of others uses
    // what nobody else has yet.
    if (const CXXConstructorDecl *D = madeBy(*F, C.getNumArgs());
        D && !Known.of(*D).IsLibrary &&
        keepsThreads(Context.getRecordType(D->getParent()))) {
      uint32_t Row = callRow(D, false, Where);
      receiver(Row, Location());
      for (unsigned I = 0; I < C.getNumArgs(); ++I)
        argument(Row, int64_t(I) + 1, C.getArg(I));
    }
    allocates(C, *F);
    return;
  }
  const auto *Via =
      Member ? dyn_cast<MemberExpr>(Member->getCallee()->IgnoreParens())
             : nullptr;
  bool Virtual = Method && Via &&
                 Via->performsVirtualDispatch(Context.getLangOpts()) &&
                 Method->isVirtual() && !Method->hasAttr<FinalAttr>() &&
                 !Method->getParent()->isEffectivelyFinal();
  if (Virtual)
    access(At.receiver(A.Args[0]), Context.VoidPtrTy, AccessKind::Load,
           MemoryOrder::Plain, Where);
  plainCall(Virtual
                ? virtualCallee(*Method, Member->getImplicitObjectArgument())
                : Unit.symbol(*F),
            A, Where);
  allocates(C, *F);
  effects(Info, A, &C, Where, [](LockEffect) { return true; });
}

/// The row of a call and those of its arguments.
void Body::plainCall(int64_t Callee, const Actual &A, SourceLocation Where) {
  uint32_t Row = callRow(Callee, Where);
  for (size_t I = 0; I < A.Args.size(); ++I) {
    if (I == 0 && A.HasThis) {
      Location This = At.receiver(A.Args[0]);
      receiver(Row, This);
      handedOn(Row, 0, This);
      partOf(Row, 0, A.Args[I], This);
    } else {
      argument(Row, int64_t(I), A.Args[I]);
    }
  }
  givenNumbers(Row, A.Args);
}

/// A whole object is read.
void Body::copied(const Expr &From) {
  Location P = At.object(&From);
  if (P.In == Location::Kind::Variable && P.Var->isConstexpr())
    return;
  access(P, From.getType().getNonReferenceType(), AccessKind::Load,
         MemoryOrder::Plain, From.getExprLoc());
}

/// A method of the standard library reads or writes its object.
bool Body::library(const CXXMethodDecl &M, const CallExpr &C,
                   const Expr &Object) {
  Location P = At.receiver(&Object);
  SourceLocation Where = C.getExprLoc();
  const CXXRecordDecl *R = M.getParent();
  QualType T = Object.IgnoreParenImpCasts()->getType();
  if (T->isAnyPointerType())
    T = T->getPointeeType();
  bool IsCompanion = false;
  if (int Row = Known.lockRow(R); Row >= 0 && M.getIdentifier()) {
    IsCompanion = true;
    LockEffect What = LockEffect::Lock;
    for (const LockCall &Call :
         Unit.knowledge().qualifiedLockCalls(qualifiedName(M)))
      if (Call.Effect == LockEffect::Wait ||
          Call.Effect == LockEffect::TimedWait)
        What = Call.Effect;
    if (P.isReported())
      lockRow(Locks.lock(P, false, Row, spelled(Object)), What, Where);
  } else if (R->getIdentifier() && R->getName() == "array") {
    // Its elements are read and written where they are used.
  } else {
    access(P, T.getNonReferenceType(),
           onlyReads(M) ? AccessKind::Load : AccessKind::Rmw,
           MemoryOrder::Plain, Where);
  }
  if (Unit.knowledge().joins(qualifiedName(M)))
    callRow(&M, false, Where);
  bool IsCall = M.getOverloadedOperator() == OO_Call;
  if (IsCall)
    callRow(functionPlace(R), Where);
  unsigned First = isa<CXXOperatorCallExpr>(C) ? 1 : 0;
  for (unsigned I = First; I < C.getNumArgs(); ++I) {
    const Expr *Arg = C.getArg(I);
    if (!IsCall)
      heldFunction(R, *Arg);
    if (const FunctionDecl *F = lambdaOf(Arg) ? callable(Arg) : nullptr) {
      if (IsCompanion)
        callRow(F, false, Where);
      else
        Taken.emplace_back(nullptr, F);
    } else if (Arg->isGLValue() && Arg->getType()->isScalarType()) {
      access(*Arg, AccessKind::Load);
    } else {
      escapes(Arg);
    }
  }
  return true;
}

void Body::construct(const CXXConstructExpr &C) {
  const CXXConstructorDecl *D = C.getConstructor();
  SourceLocation Where = C.getExprLoc();
  if (C.isElidable() || starts(C) || guardMade(C))
    return;
  Location Target;
  if (const ValueDecl *Made = Seen.Made.lookup(&C)) {
    if (const auto *V = dyn_cast<VarDecl>(Made)) {
      Target.In = V->hasGlobalStorage() && !V->getType()->isReferenceType()
                      ? Location::Kind::Variable
                      : Location::Kind::Local;
      Target.Var = V;
    } else if (const auto *Field = dyn_cast<FieldDecl>(Made);
               Field && isa_and_nonnull<CXXMethodDecl>(Function)) {
      Target.In = Location::Kind::Parameter;
      Target.Record = cast<CXXMethodDecl>(Function)->getParent();
      Target = Field->getParent() == Target.Record ? At.member(Target, *Field)
                                                   : Location();
    }
  }
  const auto *Own = dyn_cast_or_null<CXXConstructorDecl>(Function);
  if (Own && C.getConstructionKind() == CXXConstructionKind::NonVirtualBase)
    Target = At.base(*Own->getParent(), *D->getParent());
  else if (Own && C.getConstructionKind() == CXXConstructionKind::Delegating)
    Target = At.base(*Own->getParent(), *Own->getParent());
  QualType Type = Context.getRecordType(D->getParent());
  if (D->isCopyOrMoveConstructor() && D->isTrivial() && C.getNumArgs() >= 1) {
    copied(*C.getArg(0));
    access(Target, Type, AccessKind::Store, MemoryOrder::Plain, Where);
    return;
  }
  if (D->isTrivial())
    return;
  const Callee &Info = Known.of(*D);
  if (Info.IsLibrary) {
    if (Function) // that globals are made is no access
      access(Target, Type, AccessKind::Store, MemoryOrder::Plain, Where);
    for (const Expr *Arg : C.arguments()) {
      heldFunction(D->getParent(), *Arg);
      if (const FunctionDecl *F = lambdaOf(Arg) ? callable(Arg) : nullptr)
        Taken.emplace_back(nullptr, F);
      else
        escapes(Arg);
    }
    return;
  }
  Actual A;
  A.HasThis = true;
  A.This = Target;
  A.Args.push_back(nullptr);
  A.Args.append(C.arg_begin(), C.arg_end());
  uint32_t Row = callRow(D, false, Where);
  receiver(Row, Target);
  for (size_t I = 1; I < A.Args.size(); ++I)
    argument(Row, int64_t(I), A.Args[I]);
  effects(Info, A, &C, Where, [](LockEffect) { return true; });
}

void Body::destroyed(const CXXDestructorDecl *D, const void *Object,
                     SourceLocation Where) {
  if (D && !D->isTrivial() && D->isUserProvided() && !Known.of(*D).IsLibrary)
    callRow(D, false, Where);
  int Guard = Locks.findGuard(Object);
  if (Guard < 0)
    return;
  for (unsigned I = 0; I < Locksets::MaxLocks; ++I)
    if (Locks.bound(Guard) >> I & 1)
      lockRow(int(I), LockEffect::Unlock, Where);
  step({LockStep::Op::GuardDrops, -1, Guard});
}

/// __attribute__((cleanup)) passes the address of the variable.
void Body::cleanup(const FunctionDecl &F, const VarDecl &V) {
  const Callee &Info = Known.of(F);
  SourceLocation Where = V.getLocation();
  if (!Info.IsPrimitive)
    callRow(&F, false, Where);
  // What the variable points to, where that is all that is given back.
  Location P = V.getInit() && V.getType()->isAnyPointerType()
                   ? At.pointee(V.getInit())
                   : Location();
  for (const Effect &E : Info.Effects)
    if (E.What == LockEffect::Unlock && E.Where.In == Location::Kind::Record &&
        P.isReported())
      return step({LockStep::Op::Drop,
                   Locks.lock(nested(P, E.Where), E.Shared, E.Row, E.Text)});
  effects(Info, {}, nullptr, Where, [](LockEffect) { return true; });
}

} // namespace linemate
