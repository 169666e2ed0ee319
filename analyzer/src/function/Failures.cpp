//===- Failures.cpp - Which way a failed call leads to --------------------===//
//
// Owns which functions of the system's libraries say by their result that they
// failed, as sharing/model/failures.py has them for binaries and says why, and
// the ways to ask for that.
//
//===----------------------------------------------------------------------===//

#include "Failures.h"

#include "clang/AST/ExprCXX.h"
#include "llvm/ADT/StringSwitch.h"

using namespace clang;

namespace linemate {

namespace {

constexpr unsigned MaxNegations = 16;

/// The number of the argument that says how many milliseconds a function waits
/// at most, or -1.
int timeOf(StringRef Name) {
  return llvm::StringSwitch<int>(Name)
      .Cases("poll", "__poll", "__poll_chk", "g_poll", 2)
      .Cases("epoll_wait", "epoll_pwait", 3)
      .Default(-1);
}

Fails byName(StringRef Name) {
  return llvm::StringSwitch<Fails>(Name)
      .Cases("malloc", "calloc", "realloc", "reallocarray", Fails::OnNull)
      .Cases("aligned_alloc", "memalign", "valloc", "pvalloc", Fails::OnNull)
      .Cases("strdup", "strndup", "__strdup", "wcsdup", Fails::OnNull)
      .Cases("g_try_malloc", "g_try_malloc0", "g_try_realloc", Fails::OnNull)
      .Cases("fopen", "fopen64", "fdopen", "freopen", Fails::OnNull)
      .Cases("tmpfile", "tmpfile64", "fmemopen", "open_memstream",
             Fails::OnNull)
      .Cases("popen", "opendir", "fdopendir", "g_cond_wait_until",
             Fails::OnNull)
      .Cases("open", "open64", "openat", "openat64", Fails::OnNegative)
      .Cases("creat", "creat64", "mkstemp", "mkstemp64", Fails::OnNegative)
      .Cases("shm_open", "memfd_create", "socket", "dup", Fails::OnNegative)
      .Cases("dup2", "dup3", "fork", "vfork", Fails::OnNegative)
      .Cases("mmap", "mmap64", "mremap", "eventfd", Fails::OnNegative)
      .Cases("timerfd_create", "epoll_create", "epoll_create1", "signalfd",
             Fails::OnNegative)
      .Cases("inotify_init", "inotify_init1", "shmget", "shmat", "semget",
             Fails::OnNegative)
      .Cases("fileno", "sysconf", "sigtimedwait", Fails::OnNegative)
      .Cases("__open_2", "__open64_2", "__openat_2", Fails::OnNegative)
      .Cases("pthread_create", "pthread_join", "pthread_detach",
             "pthread_key_create", Fails::OnNonzero)
      .Cases("pthread_setspecific", "pthread_attr_init", "pthread_mutex_init",
             "pthread_cond_init", Fails::OnNonzero)
      .Cases("pthread_rwlock_init", "pthread_barrier_init",
             "pthread_mutex_lock", "pthread_mutex_unlock", Fails::OnNonzero)
      .Cases("pthread_rwlock_rdlock", "pthread_rwlock_wrlock",
             "pthread_rwlock_unlock", "pthread_spin_lock", Fails::OnNonzero)
      .Cases("pthread_spin_unlock", "pthread_cond_wait", "pthread_cond_signal",
             "pthread_cond_broadcast", Fails::OnNonzero)
      .Cases("sem_init", "sem_post", "posix_memalign", "pipe", "pipe2",
             Fails::OnNonzero)
      .Cases("socketpair", "bind", "listen", "setsockopt", "getsockname",
             Fails::OnNonzero)
      .Cases("fstat", "fstat64", "ftruncate", "ftruncate64", "fsync",
             Fails::OnNonzero)
      .Cases("fdatasync", "munmap", "mprotect", "clock_gettime", "gettimeofday",
             Fails::OnNonzero)
      .Cases("sigaction", "sigprocmask", "pthread_sigmask", Fails::OnNonzero)
      .Cases("getrlimit", "getrlimit64", "setrlimit", "setrlimit64",
             Fails::OnNonzero)
      .Cases("pthread_cond_timedwait", "pthread_cond_clockwait",
             "sem_timedwait", "sem_clockwait", Fails::OnNonzero)
      .Cases("cnd_timedwait", "pthread_mutex_timedlock",
             "pthread_rwlock_timedrdlock", "pthread_rwlock_timedwrlock",
             Fails::OnNonzero)
      .Cases("mtx_timedlock", "mtx_init", "mtx_lock", "mtx_unlock",
             Fails::OnNonzero)
      .Cases("cnd_init", "cnd_wait", "cnd_signal", "cnd_broadcast",
             "thrd_create", Fails::OnNonzero)
      .Cases("uv_cond_timedwait", "apr_thread_cond_timedwait", Fails::OnNonzero)
      .Default(Fails::Never);
}

/// Of wait_for() and wait_until() of the standard library's condition
/// variables: without a predicate they return a std::cv_status, else what that
/// said last.
Fails ofMethod(const CXXMethodDecl &M) {
  if (!M.getParent()->isInStdNamespace() || !M.getIdentifier() ||
      (M.getName() != "wait_for" && M.getName() != "wait_until") ||
      !M.getParent()->getName().starts_with("condition_variable"))
    return Fails::Never;
  return M.getReturnType()->isBooleanType() ? Fails::OnNull : Fails::OnStatus;
}

const ValueDecl *placeOf(const Expr *E) {
  E = E->IgnoreParenImpCasts();
  if (const auto *Ref = dyn_cast<DeclRefExpr>(E))
    return Ref->getDecl();
  if (const auto *M = dyn_cast<MemberExpr>(E))
    return M->getMemberDecl();
  return nullptr;
}

/// What a statement changes otherwise than by giving it something, or might.
const ValueDecl *changedBy(const Stmt &S) {
  const Expr *Changed = nullptr;
  if (const auto *U = dyn_cast<UnaryOperator>(&S);
      U && (U->isIncrementDecrementOp() || U->getOpcode() == UO_AddrOf))
    Changed = U->getSubExpr();
  else if (const auto *B = dyn_cast<CompoundAssignOperator>(&S))
    Changed = B->getLHS();
  return Changed ? placeOf(Changed) : nullptr;
}

bool isLocal(const ValueDecl *V) {
  const auto *Var = dyn_cast_or_null<VarDecl>(V);
  return Var && Var->hasLocalStorage();
}

/// What a statement gives to a place, or null; \p To is that place.
const Expr *givenBy(const Stmt &S, const ValueDecl *&To) {
  if (const auto *B = dyn_cast<BinaryOperator>(&S);
      B && B->getOpcode() == BO_Assign) {
    To = placeOf(B->getLHS());
    return To ? B->getRHS() : nullptr;
  }
  const auto *Declares = dyn_cast<DeclStmt>(&S);
  const auto *V = Declares && Declares->isSingleDecl()
                      ? dyn_cast<VarDecl>(Declares->getSingleDecl())
                      : nullptr;
  To = V;
  return V ? V->getInit() : nullptr;
}

} // namespace

std::optional<int64_t> Failures::number(const Expr *E) const {
  E = E->IgnoreParenCasts();
  if (isa<CXXNullPtrLiteralExpr>(E) || isa<GNUNullExpr>(E))
    return 0;
  if (E->isValueDependent() || !E->getType()->isIntegralOrEnumerationType())
    return std::nullopt;
  auto Value = E->getIntegerConstantExpr(Context);
  return Value && Value->getSignificantBits() <= 64
             ? std::optional(Value->getExtValue())
             : std::nullopt;
}

Fails Failures::ofCall(const CallExpr &Call) const {
  const FunctionDecl *F = Call.getDirectCallee();
  if (const auto *M = dyn_cast_or_null<CXXMethodDecl>(F))
    return ofMethod(*M);
  if (!F || !F->getIdentifier() ||
      !F->getDeclContext()->getRedeclContext()->isTranslationUnit())
    return Fails::Never;
  if (int Time = timeOf(F->getName()); Time >= 0) {
    auto Given = unsigned(Time) < Call.getNumArgs() ? number(Call.getArg(Time))
                                                    : std::nullopt;
    return Given && *Given > 0 ? Fails::OnTimeout : Fails::Never;
  }
  return byName(F->getName());
}

Fails Failures::ofValue(const Expr *E) const {
  E = E->IgnoreParenCasts();
  if (const auto *B = dyn_cast<BinaryOperator>(E);
      B && B->getOpcode() == BO_Assign)
    E = B->getRHS()->IgnoreParenCasts();
  if (const auto *Clean = dyn_cast<ExprWithCleanups>(E))
    E = Clean->getSubExpr()->IgnoreParenCasts();
  if (const auto *New = dyn_cast<CXXNewExpr>(E))
    return New->shouldNullCheckAllocation() ? Fails::OnNull : Fails::Never;
  const auto *Call = dyn_cast<CallExpr>(E);
  return Call ? ofCall(*Call) : Fails::Never;
}

void Failures::give(const ValueDecl *To, const Expr *Value) {
  Given &G = Values[To];
  Fails How = ofValue(Value);
  if (How == Fails::Never && number(Value) == 0) {
    G.Zero = true;
    return;
  }
  G.Other |= isa<ParmVarDecl>(To) || How == Fails::Never ||
             (G.How != Fails::Never && G.How != How);
  G.How = How;
}

void Failures::see(const Stmt &S) {
  const ValueDecl *To = nullptr;
  if (const Expr *Value = givenBy(S, To)) {
    if (isLocal(To))
      give(To, Value);
    return;
  }
  To = changedBy(S);
  if (isLocal(To))
    Values[To].Other = true;
}

/// What the block gave last to what is asked about, and did not change since,
/// or null.
const Expr *Failures::lastValue(const Expr *E, const CFGBlock &B) const {
  const ValueDecl *Asked = placeOf(E->IgnoreParenCasts());
  for (auto It = B.rbegin(); Asked && It != B.rend(); ++It) {
    auto S = It->getAs<CFGStmt>();
    const ValueDecl *To = nullptr;
    const Expr *Value = S ? givenBy(*S->getStmt(), To) : nullptr;
    if (Value && To == Asked)
      return Value;
    if (S && changedBy(*S->getStmt()) == Asked)
      return nullptr;
  }
  return nullptr;
}

/// Is a call that writes asked whether it wrote all that it was given?  What is
/// asked so takes anything else for an error.
bool Failures::isWhatWasGiven(const Expr *Asked, const Expr *Whole,
                              const CFGBlock &B) const {
  constexpr unsigned Third = 2;
  Asked = Asked->IgnoreParenCasts();
  const auto *Call = dyn_cast<CallExpr>(Asked);
  if (!Call)
    if (const Expr *Value = lastValue(Asked, B))
      Call = dyn_cast<CallExpr>(Value->IgnoreParenCasts());
  const FunctionDecl *F = Call ? Call->getDirectCallee() : nullptr;
  if (!F || !F->getIdentifier() || Call->getNumArgs() <= Third ||
      !F->getDeclContext()->getRedeclContext()->isTranslationUnit() ||
      !llvm::StringSwitch<bool>(F->getName())
           .Cases("write", "pwrite", "pwrite64", "fwrite", "fwrite_unlocked",
                  true)
           .Default(false))
    return false;
  const Expr *Given = Call->getArg(Third);
  if (auto Number = number(Given))
    return number(Whole) == Number;
  const auto *One = dyn_cast<DeclRefExpr>(Given->IgnoreParenCasts());
  const auto *Other = dyn_cast<DeclRefExpr>(Whole->IgnoreParenCasts());
  return One && Other && One->getDecl() == Other->getDecl();
}

/// What is asked about is a call, or what the last one of the block gave to it;
/// a local variable that only such calls give something is known elsewhere too.
Fails Failures::howFails(const Expr *E, const CFGBlock &B) const {
  if (Fails Own = ofValue(E); Own != Fails::Never)
    return Own;
  const ValueDecl *Asked = placeOf(E->IgnoreParenCasts());
  if (!Asked)
    return Fails::Never;
  if (const Expr *Value = lastValue(E, B))
    return ofValue(Value);
  auto Found = Values.find(Asked);
  if (Found == Values.end() || Found->second.Other)
    return Fails::Never;
  Fails How = Found->second.How;
  return Found->second.Zero && How != Fails::OnNonzero ? Fails::Never : How;
}

namespace {

/// Does a comparison of a result with a number hold where the call failed?
std::optional<bool> compared(Fails How, BinaryOperatorKind Op, int64_t With) {
  bool Equal = Op == BO_EQ, Differs = Op == BO_NE;
  bool Below = (Op == BO_LT && With == 0) || (Op == BO_LE && With == -1);
  bool AtLeast = (Op == BO_GE && With == 0) || (Op == BO_GT && With == -1);
  bool None = (Op == BO_LE && With == 0) || (Op == BO_LT && With == 1);
  bool Some = (Op == BO_GT && With == 0) || (Op == BO_GE && With == 1);
  switch (How) {
  case Fails::OnNull:
    return With == 0 && (Equal || Differs) ? std::optional(Equal)
                                           : std::nullopt;
  case Fails::OnNegative:
    if (Below || AtLeast)
      return Below;
    return With < 0 && (Equal || Differs) ? std::optional(Equal) : std::nullopt;
  case Fails::OnNonzero:
    if (Below || AtLeast)
      return Below;
    if (Equal || Differs)
      return With == 0 ? Differs : Equal;
    return std::nullopt;
  case Fails::OnTimeout:
    if (None || Some)
      return None;
    return With == 0 && (Equal || Differs) ? std::optional(Equal)
                                           : std::nullopt;
  default:
    return std::nullopt;
  }
}

/// The same of an enumerator of std::cv_status.
std::optional<bool> comparedStatus(const Expr *With, bool Equal) {
  const auto *Ref = dyn_cast<DeclRefExpr>(With->IgnoreParenImpCasts());
  if (!Ref || !isa<EnumConstantDecl>(Ref->getDecl()))
    return std::nullopt;
  return (Ref->getDecl()->getName() == "timeout") == Equal;
}

} // namespace

std::optional<bool> Failures::holds(const Expr *E, const CFGBlock &B,
                                    unsigned Depth) const {
  E = E->IgnoreParenImpCasts();
  if (const auto *Clean = dyn_cast<ExprWithCleanups>(E))
    E = Clean->getSubExpr()->IgnoreParenImpCasts();
  if (Depth > MaxNegations)
    return std::nullopt;
  if (const auto *U = dyn_cast<UnaryOperator>(E);
      U && U->getOpcode() == UO_LNot) {
    auto Inner = holds(U->getSubExpr(), B, Depth + 1);
    return Inner ? std::optional(!*Inner) : std::nullopt;
  }
  if (const auto *O = dyn_cast<BinaryOperator>(E); O && O->isComparisonOp()) {
    BinaryOperatorKind Op = O->getOpcode();
    if (Op != BO_GT && Op != BO_LE &&
        isWhatWasGiven(O->getLHS(), O->getRHS(), B))
      return Op == BO_NE || Op == BO_LT;
    Fails How = howFails(O->getLHS(), B);
    if (How == Fails::Never)
      return std::nullopt;
    if (How == Fails::OnStatus)
      return O->isEqualityOp()
                 ? comparedStatus(O->getRHS(), O->getOpcode() == BO_EQ)
                 : std::nullopt;
    auto With = number(O->getRHS());
    return With ? compared(How, O->getOpcode(), *With) : std::nullopt;
  }
  Fails How = howFails(E, B);
  return How == Fails::OnNonzero ? std::optional(true)
         : How == Fails::OnNull || How == Fails::OnTimeout
             ? std::optional(false)
             : std::nullopt;
}

std::optional<bool> Failures::ifTrue(const CFGBlock &B) const {
  const Stmt *Terminator = B.getTerminatorStmt();
  if (!isa_and_nonnull<IfStmt, WhileStmt, ForStmt, BinaryOperator,
                       ConditionalOperator>(Terminator))
    return std::nullopt;
  const Expr *Condition = B.getLastCondition();
  return Condition ? holds(Condition, B, 0) : std::nullopt;
}

} // namespace linemate
