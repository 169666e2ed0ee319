//===- Access.cpp - Rows of accesses, and the locks held there ------------===//
//
// Owns the columns of accesses and the last step of the lockset analysis:
// numbering the sets.
//
//===----------------------------------------------------------------------===//

#include "Body.h"
#include "Chance.h"
#include "Columns.h"

#include "llvm/ADT/STLExtras.h"

using namespace clang;

namespace linemate {

namespace {

/// The compiler puts the value where it is used.
bool isFolded(const Location &P) {
  return P.In == Location::Kind::Variable && !P.Indexed &&
         (P.Var->isConstexpr() ||
          (P.Var->getType()->isScalarType() &&
           P.Var->getASTContext().getLangOpts().CPlusPlus &&
           P.Var->mightBeUsableInConstantExpressions(P.Var->getASTContext())));
}

} // namespace

void Body::position(Rows &To, SourceLocation Where) {
  Position P = Unit.position(Where);
  append(To, {P.File, P.Line, P.Column});
}

/// Is it an object that this function makes or ends, so that no other thread
/// has it yet or any more?  In a loop behind the allocation, only where all
/// elements are gone through.
bool Body::isNew(const Location &P) const {
  if (P.In == Location::Kind::Parameter && !P.Param)
    return isa_and_nonnull<CXXConstructorDecl, CXXDestructorDecl>(Function);
  auto Known = P.Made ? MadeAt.find(P.Made) : MadeAt.end();
  return Known != MadeAt.end() &&
         (P.Walks || Here.Shape.LoopDepth <= Known->second);
}

void Body::access(const Expr &E, AccessKind Kind, const Expr *Stored) {
  Location P = At.object(&E);
  if (!P.isReported() || (Kind == AccessKind::Load && isFolded(P)))
    return;
  QualType T = E.getType();
  if (const auto *M = dyn_cast<MemberExpr>(&E); M && Stored && !isZero(Stored))
    Refilled.insert(M->getMemberDecl());
  MemoryOrder Order = MemoryOrder::Plain;
  if (T->isAtomicType())
    Order = MemoryOrder::SeqCst;
  else if (Atomic)
    Order = MemoryOrder::Relaxed;
  size_t Before = Out.Accesses.size();
  access(P, T, Kind, Order, E.getExprLoc(), Stored);
  // With a volatile word __sync_lock_test_and_set is given back by `= 0`.
  if (Out.Accesses.size() != Before && Stored && isZero(Stored) &&
      (T->isAtomicType() || T.isVolatileQualified()))
    ownLocks(E, P, T, Kind, /*StoresZero=*/true);
}

void Body::access(const Location &P, QualType T, AccessKind Kind,
                  MemoryOrder Order, SourceLocation Where, const Expr *Stored) {
  if (!P.isReported())
    return;
  int64_t Flags = 0;
  if (P.Indexed)
    Flags |= accessflag::Indexed;
  if (P.Indexed && P.Walks)
    Flags |= accessflag::Walks;
  // The loop around goes round once for each thread: what it does there in an
  // inner one it does often.
  if (P.Round && P.Indexed)
    Flags |= Here.Shape.LoopDepth > 1 ? accessflag::Own : accessflag::Walks;
  if (P.Own && (P.Indexed || P.In == Location::Kind::Record))
    Flags |= accessflag::Own;
  if (P.Indexed && P.Given)
    Flags |= accessflag::Given;
  if (P.Indexed && P.Counted)
    Flags |= accessflag::Counted;
  if (P.BitField)
    Flags |= accessflag::BitField;
  if (T.isVolatileQualified())
    Flags |= accessflag::Volatile;
  if (Stored && isZero(Stored))
    Flags |= accessflag::Clears;
  if (Kind == AccessKind::Store && isNew(P))
    Flags |= accessflag::New;
  int64_t Id = -1;
  if (P.In == Location::Kind::Variable)
    Id = Unit.symbol(*P.Var);
  else if (P.In == Location::Kind::Parameter)
    Id = P.Param;
  if (P.In == Location::Kind::Variable && Id < 0)
    return;
  int64_t Record = P.Record && P.In != Location::Kind::Variable
                       ? Unit.record(*P.Record)
                       : -1;
  Events.push_back({Here.Block, Row::Access,
                    uint32_t(Out.Accesses.size() / AccessColumns), Critical});
  AccessLocations.push_back(P);
  append(Out.Accesses,
         {int64_t(P.base()), Id, Record, P.Offset, At.sizeOf(T), int64_t(Kind),
          int64_t(Order), Flags, P.Indexed ? P.Stride : 0});
  position(Out.Accesses, Where);
  append(Out.Accesses,
         {int64_t(Here.Shape.LoopDepth), int64_t(Here.Shape.Rarity),
          int64_t(Here.Shape.Order), int64_t(0)});
}

void Body::atomic(const AtomicUse &Use, const Expr &E) {
  const Expr *Target = Use.Target->IgnoreParenImpCasts();
  QualType T = Target->getType();
  Location P;
  if (const CXXRecordDecl *R = T->getAsCXXRecordDecl(); isAtomicRef(R)) {
    // The object is what the reference was made from.
    const auto *Ref = dyn_cast<DeclRefExpr>(Target);
    const auto *V = Ref ? dyn_cast<VarDecl>(Ref->getDecl()) : nullptr;
    const Expr *Made = V && V->getInit() ? V->getInit() : Target;
    Made = Made->IgnoreImplicit();
    if (const auto *Cast = dyn_cast<CXXFunctionalCastExpr>(Made))
      Made = Cast->getSubExpr()->IgnoreImplicit();
    const auto *C = dyn_cast<CXXConstructExpr>(Made);
    if (!C || C->getNumArgs() != 1)
      return;
    P = At.object(C->getArg(0));
    T = C->getArg(0)->getType();
  } else if (Use.Target->getType()->isAnyPointerType() ||
             T->isAnyPointerType()) {
    P = At.pointee(Use.Target);
    if (T->isAnyPointerType())
      T = T->getPointeeType();
    else if (T->isArrayType())
      T = QualType(T->getArrayElementTypeNoTypeQual(), 0);
  } else {
    P = At.object(Target);
  }
  size_t Before = Out.Accesses.size();
  access(P, T.getNonReferenceType(), Use.Kind, Use.Order, E.getExprLoc(),
         Use.Stored);
  if (Out.Accesses.size() != Before)
    ownLocks(E, P, T, Use.Kind, Use.Stored && isZero(Use.Stored));
}

/// What std::ref and std::cref hand over, or null.
static const Expr *wrapped(const Expr *Value) {
  const Expr *Plain = Value->IgnoreImplicit();
  while (const auto *Made = dyn_cast<CXXConstructExpr>(Plain)) {
    if (!Made->getConstructor()->isCopyOrMoveConstructor() ||
        !Made->getNumArgs())
      return nullptr;
    Plain = Made->getArg(0)->IgnoreImplicit();
  }
  const auto *Call = dyn_cast<CallExpr>(Plain);
  const FunctionDecl *F = Call ? Call->getDirectCallee() : nullptr;
  return F && F->isInStdNamespace() && F->getIdentifier() &&
                 Call->getNumArgs() == 1 &&
                 (F->getName() == "ref" || F->getName() == "cref")
             ? Call->getArg(0)
             : nullptr;
}

/// The address of a reported place becomes known elsewhere.
void Body::escapes(const Expr *Value) {
  if (const Expr *Of = wrapped(Value))
    return access(At.object(Of), Of->getType().getUnqualifiedType(),
                  AccessKind::Address, MemoryOrder::Plain, Of->getExprLoc());
  if (!Value->getType()->isAnyPointerType() && !Value->isLValue())
    return;
  const Expr *Plain = Value->IgnoreParenCasts();
  const auto *Of = dyn_cast<UnaryOperator>(Plain);
  bool IsArray = Plain->getType()->isArrayType();
  bool Syntactic = (Of && Of->getOpcode() == UO_AddrOf) || IsArray;
  if (Value->getType()->isAnyPointerType()) {
    Location P = At.pointee(Value);
    if (!Syntactic && P.In != Location::Kind::Variable)
      return;
    QualType T = Of && Of->getOpcode() == UO_AddrOf
                     ? Of->getSubExpr()->getType()
                 : IsArray ? Plain->getType()
                           : Value->getType()->getPointeeType();
    return access(P, T.getUnqualifiedType(), AccessKind::Address,
                  MemoryOrder::Plain, Plain->getExprLoc());
  }
  Location P = At.object(Value);
  if (P.In == Location::Kind::Variable)
    access(P, Value->getType().getUnqualifiedType(), AccessKind::Address,
           MemoryOrder::Plain, Value->getExprLoc());
}

int64_t Body::lockset(LockMask Held) {
  if (!Held)
    return 0;
  auto [Slot, IsNew] = SetOf.try_emplace(Held, int64_t(Out.Locksets.size()));
  if (IsNew) {
    Rows Set;
    for (unsigned I = 0; I < Locksets::MaxLocks; ++I)
      if (Held >> I & 1)
        Set.push_back(I);
    Out.Locksets.push_back(std::move(Set));
  }
  return Slot->second;
}

/// Replays the steps of each block from its solved entry.
void Body::setLocksets() {
  if (Locks.isTrivial())
    return;
  for (const HeldLock &L : Locks.locks()) {
    LockFact F;
    F.In = L.Where.base();
    if (L.Where.In == Location::Kind::Variable)
      F.Id = Unit.symbol(*L.Where.Var);
    else if (L.Where.In == Location::Kind::Parameter)
      F.Id = L.Where.Param;
    F.Record = L.Where.Record && L.Where.In != Location::Kind::Variable
                   ? Unit.record(*L.Where.Record)
                   : -1;
    F.Offset = L.Where.Offset;
    F.Stride = L.Where.Stride;
    F.Shared = L.Shared;
    F.Row = L.Row < 0 ? "" : Unit.knowledge().locks()[size_t(L.Row)].Name;
    F.Text = L.Text;
    Out.Locks.push_back(std::move(F));
  }
  // Only locks in arrays or of unknown records come in several instances.
  LockMask Several = 0;
  for (size_t I = 0; I < Locks.locks().size(); ++I)
    if (Locks.locks()[I].Where.Root)
      Several |= LockMask(1) << I;
  auto OfLocation = [&](LockMask Held, const Location &P) {
    for (size_t I = 0; I < Locks.locks().size(); ++I)
      if ((Held & Several) >> I & 1)
        if (isOtherInstance(Locks.locks()[I].Where, P))
          Held &= ~(LockMask(1) << I);
    return Held;
  };
  LockState State;
  unsigned Block = ~0U;
  for (const Event &E : Events) {
    if (E.Block != Block) {
      Block = E.Block;
      State = Locks.before(Block);
    }
    if (E.Kind == Row::Step) {
      Locks.apply(Steps[E.At], State);
      continue;
    }
    LockMask Held = State.Held | E.Extra;
    bool Sure = State.Known && State.Seen;
    if (E.Kind == Row::Access) {
      Out.Accesses[E.At * AccessColumns + AccessColumns - 1] =
          Sure ? lockset(OfLocation(Held, AccessLocations[E.At])) : -1;
    } else if (E.Kind == Row::Call) {
      Out.Calls[E.At * CallColumns + CallColumns - 1] =
          Sure ? lockset(Held) : -1;
    } else {
      Out.LockOps[E.At * LockOpColumns + LockOpColumns - 1] =
          Sure ? lockset(Held) : -1;
    }
  }
}

} // namespace linemate
