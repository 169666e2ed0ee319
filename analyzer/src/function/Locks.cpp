//===- Locks.cpp - Lock calls, guards and tests of attempts ---------------===//
//
// Owns the step from expressions to the locks of Lockset.h.
//
//===----------------------------------------------------------------------===//

#include "Body.h"
#include "Columns.h"

#include "clang/Basic/Builtins.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <optional>

using namespace clang;

namespace linemate {

namespace {

bool isStdNamed(const FunctionDecl &F, StringRef Name) {
  return F.getIdentifier() && F.getName() == Name && F.isInStdNamespace();
}

bool isWordByte(char C) { return llvm::isAlnum(C) || C == '_'; }

/// The text of an effect with the caller's argument for the parameter.
std::string inCaller(const Effect &E, StringRef Argument) {
  StringRef Text = E.Text;
  size_t At = E.Param.empty() ? StringRef::npos : Text.find(E.Param);
  size_t End = At + E.Param.size();
  if (At == StringRef::npos || (At && isWordByte(Text[At - 1])) ||
      (End < Text.size() && isWordByte(Text[End])))
    return Argument.str();
  bool IsWord = llvm::all_of(Argument, isWordByte);
  return (Text.take_front(At) + (IsWord ? "" : "(") + Argument +
          (IsWord ? "" : ")") + Text.drop_front(End))
      .str();
}

bool isConstantZero(const Expr *E, const ASTContext &Context, bool &Known) {
  Expr::EvalResult Result;
  Known = !E->isValueDependent() &&
          E->getType()->isIntegralOrEnumerationType() &&
          E->EvaluateAsInt(Result, Context);
  return Known && Result.Val.getInt() == 0;
}

} // namespace

Body::Actual Body::actual(const CallExpr &C) {
  Actual A;
  const auto *Method = dyn_cast_or_null<CXXMethodDecl>(C.getDirectCallee());
  if (const auto *Member = dyn_cast<CXXMemberCallExpr>(&C)) {
    A.HasThis = true;
    A.Args.push_back(Member->getImplicitObjectArgument());
  } else {
    A.HasThis = Method && Method->isInstance() && isa<CXXOperatorCallExpr>(C);
  }
  A.Args.append(C.arg_begin(), C.arg_end());
  return A;
}

/// As written where macros do not hide it.
StringRef Body::spelled(const Expr &E) {
  SourceManager &SM = Unit.sources();
  return Unit.text({SM.getTopMacroCallerLoc(E.getBeginLoc()),
                    SM.getTopMacroCallerLoc(E.getEndLoc())});
}

Location Body::translate(const Effect &Formal, const Actual &A,
                         std::string &Text) {
  if (Formal.Where.In == Location::Kind::Variable)
    return Formal.Where;
  if (Formal.Where.In != Location::Kind::Parameter ||
      Formal.Where.Param >= A.Args.size())
    return {};
  const Expr *E = A.Args[Formal.Where.Param];
  if (!E)
    return nested(A.This, Formal.Where);
  Location Outer =
      E->getType()->isAnyPointerType() ? At.pointee(E) : At.object(E);
  if (!Outer.isReported())
    return {};
  Text = inCaller(Formal, spelled(*E));
  return nested(Outer, Formal.Where);
}

void Body::step(LockStep S) {
  Events.push_back({Here.Block, Row::Step, uint32_t(Steps.size()), 0});
  Steps.push_back(S);
  Locks.step(Here.Block, S);
}

void Body::lockRow(int Lock, LockEffect What, SourceLocation Where) {
  if (Lock < 0)
    return;
  Events.push_back({Here.Block, Row::LockOp,
                    uint32_t(Out.LockOps.size() / LockOpColumns), Critical});
  append(Out.LockOps, {int64_t(Lock), int64_t(What)});
  position(Out.LockOps, Where);
  append(Out.LockOps,
         {int64_t(Here.Shape.LoopDepth), int64_t(Here.Shape.Rarity),
          int64_t(Here.Shape.Order), int64_t(0)});
}

void Body::effects(const Callee &C, const Actual &A, const Expr *Call,
                   SourceLocation Where,
                   llvm::function_ref<bool(LockEffect)> Wanted) {
  // A function that returns a guard leaves it to that to give the lock back.
  int Result = -1;
  if (const auto *Returns = dyn_cast_or_null<CallExpr>(Call))
    if (const CXXRecordDecl *R = Returns->getType()->getAsCXXRecordDecl();
        R && !C.Effects.empty() && Known.guard(R))
      Result = Locks.guard(Call);
  for (const Effect &E : C.Effects) {
    if (!Wanted(E.What))
      continue;
    std::string Text = E.Text;
    Location P = translate(E, A, Text);
    bool Foreign = !P.isReported() && E.Where.In == Location::Kind::Record;
    if (Foreign)
      P = E.Where; // found by the callee: some lock of a record
    if (!P.isReported())
      continue;
    int Lock = Locks.lock(P, E.Shared, E.Row, Text);
    Locks.note(Lock, isLockItself(P), Foreign);
    if (C.IsPrimitive)
      lockRow(Lock, E.What, Where);
    if (Lock < 0 || !E.Excludes)
      continue;
    if (E.What == LockEffect::Lock)
      Locks.bind(Result, Lock);
    if (E.What == LockEffect::Lock)
      step({LockStep::Op::Take, Lock, Result});
    else if (E.What == LockEffect::Unlock)
      step({LockStep::Op::Drop, Lock});
    else if (E.What == LockEffect::TryLock)
      Attempts[Call] = {Lock, -1, E.ZeroIsSuccess};
  }
}

/// Is it a lock behind a pointer to locks, of which nothing says what they are
/// part of?
bool Body::isLockItself(const Location &P) {
  const auto *R = P.In == Location::Kind::Record && !P.Offset && !P.Indexed
                      ? P.Record
                      : nullptr;
  const TypedefNameDecl *Name = R ? R->getTypedefNameForAnonDecl() : nullptr;
  return R && (Known.lockRowOf(Context.getRecordType(R)) >= 0 ||
               (Name && Unit.knowledge().lockType(Name->getName()) >= 0));
}

/// The lock behind an argument of a guard or of std::lock, -1 if unknown.
int Body::lockOf(const Expr *E, bool Shared) {
  QualType T = E->getType().getNonReferenceType();
  Location P = T->isAnyPointerType() ? At.pointee(E) : At.object(E);
  if (!P.isReported())
    return -1;
  if (T->isAnyPointerType())
    T = T->getPointeeType();
  int Row = Known.lockRowOf(E->IgnoreParenImpCasts()->getType());
  const CXXRecordDecl *R = T->getAsCXXRecordDecl();
  // A class of the project that wraps a lock: what its lock() locks.
  if (Row < 0 && R)
    if (const CXXMethodDecl *Take =
            Known.method(*R, Shared ? "lock_shared" : "lock"))
      for (const Effect &Inner : Known.of(*Take).Effects)
        if (Inner.What == LockEffect::Lock &&
            Inner.Where.In == Location::Kind::Parameter && !Inner.Where.Param)
          return Locks.lock(nested(P, Inner.Where), Inner.Shared, Inner.Row,
                            spelled(*E));
  return Locks.lock(P, Shared, Row, spelled(*E));
}

const VarDecl *Body::guardVariable(const Expr *E) {
  E = E->IgnoreParenImpCasts();
  if (const auto *C = dyn_cast<CallExpr>(E);
      C && C->getDirectCallee() && C->getNumArgs() == 1 &&
      isStdNamed(*C->getDirectCallee(), "move"))
    E = C->getArg(0)->IgnoreParenImpCasts();
  const auto *Ref = dyn_cast<DeclRefExpr>(E);
  return Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
}

const void *Body::guardKey(const Expr *E) {
  if (const VarDecl *V = guardVariable(E))
    return V;
  return E->IgnoreImplicit();
}

bool Body::guardMade(const CXXConstructExpr &C) {
  const CXXConstructorDecl *D = C.getConstructor();
  const CXXRecordDecl *R = D->getParent();
  const Guard *Holds = Known.guard(R);
  const Callee &Info = Known.of(*D);
  Actual A;
  A.Args.push_back(nullptr);
  A.Args.append(C.arg_begin(), C.arg_end());
  const ValueDecl *Made = Seen.Made.lookup(&C);
  const void *Key = Made ? static_cast<const void *>(Made) : &C;
  SourceLocation Where = C.getExprLoc();

  // A class of the project whose constructor locks and whose end unlocks, and
  // annotated ones.
  const CXXDestructorDecl *End = R->getDestructor();
  bool Unlocks =
      End && llvm::any_of(Known.of(*End).Effects, [](const Effect &E) {
        return E.What == LockEffect::Unlock;
      });
  if (!Info.Effects.empty() && (Holds || Unlocks)) {
    int Guard = Locks.guard(Key);
    uint32_t Row = callRow(D, false, Where);
    for (size_t I = 1; I < A.Args.size(); ++I)
      argument(Row, int64_t(I), A.Args[I]);
    for (const Effect &E : Info.Effects) {
      std::string Text = E.Text;
      Location P = translate(E, A, Text);
      if (E.What != LockEffect::Lock || !P.isReported())
        continue;
      int Lock = Locks.lock(P, E.Shared, E.Row, Text);
      Locks.bind(Guard, Lock);
      step({LockStep::Op::Take, Lock, Guard});
    }
    return true;
  }
  if (!Holds || R->hasAttr<ScopedLockableAttr>())
    return false;

  int Guard = Locks.guard(Key);
  if (D->isCopyOrMoveConstructor() && C.getNumArgs() >= 1) {
    int Other = Locks.guard(guardKey(C.getArg(0)));
    Locks.bindLike(Guard, Other);
    step({LockStep::Op::GuardMoves, -1, Guard, Other});
    return true;
  }
  GuardMode Mode = GuardMode::Locks;
  for (const Expr *Arg : C.arguments())
    if (GuardMode M = Known.guardMode(*Holds, Arg->getType());
        M != GuardMode::Locks)
      Mode = M;
  for (const Expr *Arg : C.arguments()) {
    QualType T = Arg->getType().getNonReferenceType();
    if (T->isAnyPointerType())
      T = T->getPointeeType();
    if (!T->isRecordType() || Known.guardMode(*Holds, T) != GuardMode::Locks)
      continue;
    int Lock = lockOf(Arg, Holds->Shared);
    Locks.bind(Guard, Lock);
    if (Lock < 0)
      continue;
    if (Mode == GuardMode::Locks || Mode == GuardMode::Tries)
      lockRow(Lock,
              Mode == GuardMode::Locks ? LockEffect::Lock : LockEffect::TryLock,
              Where);
    if (Mode == GuardMode::Locks)
      step({LockStep::Op::Take, Lock, Guard});
    else if (Mode != GuardMode::Defers)
      step({LockStep::Op::GuardOwns, -1, Guard});
  }
  return true;
}

/// unique_lock's and its kin's methods.
bool Body::guardCall(const CXXMemberCallExpr &C) {
  const CXXMethodDecl *M = C.getMethodDecl();
  const VarDecl *V = guardVariable(C.getImplicitObjectArgument());
  int Guard = V ? Locks.findGuard(V) : -1;
  if (!M || Guard < 0)
    return false;
  if (isa<CXXConversionDecl>(M)) {
    Attempts[&C] = {-1, Guard, false};
    return true;
  }
  if (!M->getIdentifier())
    return false;
  const linemate::Guard *Holds = Known.guard(M->getParent());
  auto Rows = [&](LockEffect What) {
    for (unsigned I = 0; I < Locksets::MaxLocks; ++I)
      if (Locks.bound(Guard) >> I & 1)
        lockRow(int(I), What, C.getExprLoc());
  };
  if (!Holds) // a class of the project that locks while it lives
    Holds = &Unit.knowledge().usualGuard();
  switch (Holds->Methods.lookup(M->getName())) {
  case GuardCall::Lock:
    Rows(LockEffect::Lock);
    step({LockStep::Op::GuardTakes, -1, Guard});
    break;
  case GuardCall::Unlock:
    Rows(LockEffect::Unlock);
    step({LockStep::Op::GuardDrops, -1, Guard});
    break;
  case GuardCall::Release:
    step({LockStep::Op::GuardForgets, -1, Guard});
    break;
  case GuardCall::TryLock:
    Rows(LockEffect::TryLock);
    Attempts[&C] = {-1, Guard, false};
    break;
  case GuardCall::Owns:
    Attempts[&C] = {-1, Guard, false};
    break;
  case GuardCall::None:
    for (const Effect &E : Known.of(*M).Effects)
      if (E.OfGuard || E.Where.In == Location::Kind::Record)
        step({E.What == LockEffect::Unlock ? LockStep::Op::GuardDrops
                                           : LockStep::Op::GuardTakes,
              -1, Guard});
    return Known.of(*M).IsSystem;
  }
  return true;
}

/// std::lock takes several, and assignment moves guards.
bool Body::standardLock(const CallExpr &C) {
  const FunctionDecl *F = C.getDirectCallee();
  if (isStdNamed(*F, "lock") && !isa<CXXMethodDecl>(F)) {
    for (const Expr *Arg : C.arguments()) {
      const VarDecl *V = guardVariable(Arg);
      if (int Guard = V ? Locks.findGuard(V) : -1; Guard >= 0) {
        step({LockStep::Op::GuardTakes, -1, Guard});
        continue;
      }
      int Lock = lockOf(Arg, /*Shared=*/false);
      lockRow(Lock, LockEffect::Lock, C.getExprLoc());
      if (Lock >= 0)
        step({LockStep::Op::Take, Lock});
    }
    return true;
  }
  const auto *M = dyn_cast<CXXMethodDecl>(F);
  if (!M || !M->isMoveAssignmentOperator() || C.getNumArgs() < 2 ||
      !Known.guard(M->getParent()))
    return false;
  int To = Locks.guard(guardKey(C.getArg(0)));
  int From = Locks.guard(guardKey(C.getArg(1)));
  step({LockStep::Op::GuardDrops, -1, To});
  Locks.bindLike(To, From);
  step({LockStep::Op::GuardMoves, -1, To, From});
  return true;
}

/// On which way behind a block an attempt has succeeded.
void Body::branch(const CFGBlock &B) {
  if (B.succ_size() != 2)
    return;
  const Expr *E = B.getLastCondition();
  bool TrueIsNonZero = true;
  for (unsigned Depth = 0; E && Depth < 16; ++Depth) {
    for (E = E->IgnoreParens(); isa<ImplicitCastExpr>(E);
         E = cast<ImplicitCastExpr>(E)->getSubExpr()->IgnoreParens())
      if (cast<ImplicitCastExpr>(E)->getCastKind() == CK_LValueToRValue &&
          E->getType()->isAnyPointerType())
        Tested.push_back({E, B.getBlockID(), TrueIsNonZero ? 1U : 0U});
    E = E->IgnoreParenImpCasts();
    if (auto It = Attempts.find(E); It != Attempts.end()) {
      const Attempt &A = It->second;
      unsigned Success = TrueIsNonZero != A.ZeroIsSuccess ? 0 : 1;
      if (A.Guard >= 0) {
        Locks.edge(
            {B.getBlockID(), Success, {LockStep::Op::GuardTakes, -1, A.Guard}});
        Locks.edge({B.getBlockID(),
                    1 - Success,
                    {LockStep::Op::GuardForgets, -1, A.Guard}});
      } else {
        Locks.edge({B.getBlockID(), Success, {LockStep::Op::Take, A.Lock}});
      }
      return;
    }
    if (const auto *U = dyn_cast<UnaryOperator>(E);
        U && U->getOpcode() == UO_LNot) {
      TrueIsNonZero = !TrueIsNonZero;
      E = U->getSubExpr();
    } else if (const auto *C = dyn_cast<CallExpr>(E)) {
      E = C->getBuiltinCallee() == Builtin::BI__builtin_expect ? C->getArg(0)
                                                               : nullptr;
    } else if (const auto *Op = dyn_cast<BinaryOperator>(E)) {
      bool Known = false;
      if (Op->getOpcode() == BO_Assign) {
        E = Op->getRHS();
      } else if (Op->isEqualityOp()) {
        bool Zero = isConstantZero(Op->getRHS(), Context, Known);
        if (Op->getRHS()->isNullPointerConstant(
                Context, Expr::NPC_ValueDependentIsNotNull))
          Zero = Known = true;
        // `!= EBUSY` and `== 0` hold when it worked, `== true` as well.
        if ((Op->getOpcode() == BO_EQ) == Zero)
          TrueIsNonZero = !TrueIsNonZero;
        E = Known ? Op->getLHS() : nullptr;
      } else {
        E = nullptr;
      }
    } else if (const auto *Ref = dyn_cast<DeclRefExpr>(E)) {
      const auto *V = dyn_cast<VarDecl>(Ref->getDecl());
      auto It = V ? Seen.Results.find(V) : Seen.Results.end();
      E = It != Seen.Results.end() && It->second.size() == 1
              ? It->second.front()
              : nullptr;
    } else {
      E = nullptr;
    }
  }
}

/// Of what null pointers would lead to nothing is held or released.
void Body::absent() {
  for (const auto &[Pointer, Block, Way] : Tested)
    if (Location P = At.pointee(Pointer);
        P.In == Location::Kind::Parameter || P.In == Location::Kind::Record)
      Locks.edge({Block, Way, {LockStep::Op::Absent, Locks.pointer(P)}});
}

void Body::requirements() {
  if (!Function)
    return;
  const Callee &Own = Known.of(*Function->getMostRecentDecl());
  // An annotation that says what it releases says what it is called with.
  for (const Effect &E : Own.Effects)
    if (E.What == LockEffect::Unlock && !E.OfGuard && !Own.IsPrimitive &&
        E.Where.In != Location::Kind::Record)
      Locks.entry(Locks.lock(E.Where, E.Shared, E.Row, E.Text));
  for (const Effect &E : Own.Requires) {
    int Lock = Locks.lock(E.Where, E.Shared, E.Row, E.Text);
    if (Lock < 0)
      continue;
    Locks.entry(Lock);
    Out.Requires.push_back(Lock);
  }
}

/// What callers see of this function.
void Body::summarise() {
  if (!Function || Locks.isTrivial() || !Locks.returns())
    return;
  llvm::SmallVector<Effect, 2> Learnt;
  for (size_t I = 0; I < Locks.locks().size(); ++I) {
    LockMask Bit = LockMask(1) << I;
    const HeldLock &L = Locks.locks()[I];
    bool Takes = Locks.acquired() & Bit, Drops = Locks.released() & Bit;
    // An end that gives back what it has says that all of its ends do.
    Drops |= isa<CXXDestructorDecl>(Function) && (Locks.freed() & Bit);
    if ((!Takes && !Drops) || (Takes && L.Foreign))
      continue;
    (Takes ? Out.Acquires : Out.Releases).push_back(int64_t(I));
    Effect E;
    E.Where = L.Where;
    E.What = Takes ? LockEffect::Lock : LockEffect::Unlock;
    E.Shared = L.Shared;
    E.Row = L.Row;
    E.Text = L.Text;
    unsigned First = isa<CXXMethodDecl>(Function) &&
                             cast<CXXMethodDecl>(Function)->isInstance()
                         ? 1
                         : 0;
    if (L.Where.In == Location::Kind::Parameter && L.Where.Param >= First &&
        L.Where.Param - First < Function->getNumParams())
      E.Param = Function->getParamDecl(L.Where.Param - First)->getName().str();
    Learnt.push_back(std::move(E));
  }
  Known.learn(*Function, Learnt);
}

/// A critical section is a lock without a place of its own: one a name.
LockMask Body::criticalMask(const OMPCriticalDirective *D) {
  if (!D)
    return 0;
  std::string Name = D->getDirectiveName().getAsString();
  Location P;
  P.In = Location::Kind::Record;
  P.Root = unsigned(llvm::hash_value(StringRef(Name))) | 1;
  int Lock =
      Locks.lock(P, false, -1,
                 Name.empty() ? "omp critical" : "omp critical(" + Name + ")");
  return Lock < 0 ? 0 : LockMask(1) << Lock;
}

} // namespace linemate
