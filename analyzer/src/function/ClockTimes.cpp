//===- ClockTimes.cpp - What clocks say, in source ------------------------===//
//
// Owns how source asks a clock, and which unit the answer is in: what time()
// returns, members of a timespec that was filled, std::chrono, sums of these
// that are scaled, and functions of the unit that return one.
//
//===----------------------------------------------------------------------===//

#include "ClockTimes.h"

#include "clang/AST/DeclTemplate.h"
#include "llvm/ADT/StringSwitch.h"

#include <algorithm>

using namespace clang;

namespace linemate {

namespace {

/// Expressions within each other, and functions that call each other.
constexpr unsigned MaxOfTime = 12;
constexpr unsigned MaxInHelper = 256;
/// Values that one variable is given: all have to be a clock's.
constexpr size_t MaxValues = 8;

constexpr double MicroOfSecond = 1e6, NanoOfSecond = 1e9;

/// Parts of a second that a function returns, or 0.
double unitOf(StringRef Name) {
  return llvm::StringSwitch<double>(Name)
      .Cases("time", "time64", 1)
      .Cases("uv_now", "SDL_GetTicks", "SDL_GetTicks64", 1e3)
      .Cases("g_get_monotonic_time", "g_get_real_time", "apr_time_now",
             MicroOfSecond)
      .Case("uv_hrtime", NanoOfSecond)
      .Default(0);
}

/// The argument behind which a function fills seconds and so many parts of
/// one, or nothing.
std::optional<std::pair<unsigned, double>> clockFills(StringRef Name) {
  if (Name == "clock_gettime")
    return std::pair(1U, NanoOfSecond);
  if (Name == "gettimeofday")
    return std::pair(0U, MicroOfSecond);
  if (Name == "timespec_get")
    return std::pair(0U, NanoOfSecond);
  if (Name == "time")
    return std::pair(0U, 1.0);
  return std::nullopt;
}

/// Is it of the standard library: in std, or in a namespace or class of that?
bool isOfStd(const Decl &D) {
  for (const DeclContext *In = D.getDeclContext(); In; In = In->getParent())
    if (In->isStdNamespace())
      return true;
  return false;
}

} // namespace

StringRef calledName(const CallExpr &Call) {
  const FunctionDecl *F = Call.getDirectCallee();
  return F && F->getIdentifier() ? F->getName() : StringRef();
}

const Expr *bare(const Expr *E) {
  for (unsigned Step = 0; Step < MaxOfTime; ++Step) {
    const Expr *Next = E->IgnoreParenCasts()->IgnoreImplicit();
    if (const auto *Made = dyn_cast<CXXConstructExpr>(Next);
        Made && Made->getNumArgs() == 1 &&
        Made->getArg(0)->getType()->isRecordType())
      Next = Made->getArg(0);
    if (Next == E)
      break;
    E = Next;
  }
  return E;
}

const ValueDecl *wordOf(const Expr *E) {
  E = bare(E);
  if (const auto *U = dyn_cast<UnaryOperator>(E);
      U && (U->getOpcode() == UO_AddrOf || U->getOpcode() == UO_Deref))
    E = bare(U->getSubExpr());
  if (const auto *Ref = dyn_cast<DeclRefExpr>(E))
    return Ref->getDecl();
  if (const auto *M = dyn_cast<MemberExpr>(E))
    return M->getMemberDecl();
  return nullptr;
}

TwoSides sidesOf(const Expr *E) {
  if (const auto *R = dyn_cast<CXXRewrittenBinaryOperator>(E))
    return {R->getLHS(), R->getRHS(), R->getOperator()};
  if (const auto *B = dyn_cast<BinaryOperator>(E))
    return {B->getLHS(), B->getRHS(), B->getOpcode()};
  const auto *Call = dyn_cast<CXXOperatorCallExpr>(E);
  if (!Call || Call->getNumArgs() != 2 || Call->getOperator() == OO_Subscript ||
      Call->getOperator() == OO_Call || Call->getOperator() == OO_Arrow)
    return {};
  return {Call->getArg(0), Call->getArg(1),
          BinaryOperator::getOverloadedOpcode(Call->getOperator())};
}

StringRef methodOn(const Expr *E, const ValueDecl *&Of) {
  const auto *Call = dyn_cast<CXXMemberCallExpr>(E);
  const CXXMethodDecl *M = Call ? Call->getMethodDecl() : nullptr;
  if (!M)
    return {};
  Of = wordOf(Call->getImplicitObjectArgument());
  if (isa<CXXConversionDecl>(M))
    return "load";
  return M->getIdentifier() ? M->getName() : StringRef();
}

double perSecondOf(QualType Type) {
  const auto *Of = dyn_cast_or_null<ClassTemplateSpecializationDecl>(
      Type.getNonReferenceType()->getAsRecordDecl());
  if (!Of || Of->getName() != "duration" || !isOfStd(*Of) ||
      Of->getTemplateArgs().size() < 2)
    return 0;
  const auto *Ratio = dyn_cast_or_null<ClassTemplateSpecializationDecl>(
      Of->getTemplateArgs()[1].getAsType()->getAsRecordDecl());
  if (!Ratio || Ratio->getTemplateArgs().size() < 2)
    return 0;
  double Of1 = Ratio->getTemplateArgs()[0].getAsIntegral().roundToDouble(true);
  double In = Ratio->getTemplateArgs()[1].getAsIntegral().roundToDouble(true);
  return Of1 > 0 ? In / Of1 : 0;
}

void Givens::see(const Stmt &S) {
  if (const auto *Call = dyn_cast<CallExpr>(&S)) {
    if (auto Fills = clockFills(calledName(*Call));
        Fills && Fills->first < Call->getNumArgs())
      if (const ValueDecl *V = wordOf(Call->getArg(Fills->first)))
        All[V].Filled = Fills->second;
  }
  if (const auto *Declares = dyn_cast<DeclStmt>(&S)) {
    for (const Decl *D : Declares->decls())
      if (const auto *V = dyn_cast<VarDecl>(D); V && V->getInit())
        All[V].Values.push_back(V->getInit());
    return;
  }
  if (const auto *U = dyn_cast<UnaryOperator>(&S);
      U && U->isIncrementDecrementOp()) {
    if (const ValueDecl *V = wordOf(U->getSubExpr()))
      All[V].Stepped = true;
    return;
  }
  const auto *E = dyn_cast<Expr>(&S);
  TwoSides O = E ? sidesOf(E) : TwoSides();
  if (!O.Left || !BinaryOperator::isAssignmentOp(O.Kind))
    return;
  const ValueDecl *V = wordOf(O.Left);
  if (!V)
    return;
  if (O.Kind == BO_Assign)
    All[V].Values.push_back(O.Right);
  else
    All[V].Stepped = true;
}

const Givens::Of *Givens::find(const ValueDecl *V) const {
  auto It = All.find(V);
  return It == All.end() ? nullptr : &It->second;
}

bool ClockTimes::asks(const Stmt &S) {
  const auto *Call = dyn_cast<CallExpr>(&S);
  if (!Call)
    return false;
  const FunctionDecl *F = Call->getDirectCallee();
  return F && (unitOf(calledName(*Call)) || clockFills(calledName(*Call)) ||
               calledName(*Call) == "now" || F->hasBody());
}

std::optional<double> ClockTimes::number(const Expr *E) const {
  if (E->isValueDependent())
    return std::nullopt;
  Expr::EvalResult Result;
  QualType Type = E->getType();
  if (!(Type->isArithmeticType() || Type->isRecordType()) ||
      !E->EvaluateAsRValue(Result, Context) || Result.HasSideEffects)
    return std::nullopt;
  APValue Value = Result.Val;
  while (Value.isStruct() && Value.getStructNumFields() == 1)
    Value = APValue(Value.getStructField(0));
  if (Value.isInt())
    return Value.getInt().roundToDouble();
  if (Value.isFloat())
    return Value.getFloat().convertToDouble();
  return std::nullopt;
}

/// What a function of the unit returns.
std::optional<Clock> ClockTimes::returned(const FunctionDecl &F,
                                          unsigned Depth) const {
  const FunctionDecl *Defined = nullptr;
  const Stmt *Body = F.getBody(Defined);
  if (!Body)
    return std::nullopt;
  Givens Its;
  const Expr *Result = nullptr;
  llvm::SmallVector<const Stmt *, 16> Work{Body};
  for (unsigned Count = 0; !Work.empty(); ++Count) {
    const Stmt *S = Work.pop_back_val();
    if (Count == MaxInHelper)
      return std::nullopt;
    Its.see(*S);
    if (const auto *R = dyn_cast<ReturnStmt>(S)) {
      if (Result || !R->getRetValue())
        return std::nullopt;
      Result = R->getRetValue();
    }
    for (const Stmt *Child : S->children())
      if (Child)
        Work.push_back(Child);
  }
  return Result ? clock(Result, Its, Depth + 1) : std::nullopt;
}

std::optional<Clock> ClockTimes::called(const CallExpr &Call, const Givens &In,
                                        unsigned Depth) const {
  const FunctionDecl *F = Call.getDirectCallee();
  if (!F)
    return std::nullopt;
  StringRef Name = calledName(Call);
  if (isOfStd(*F)) {
    const auto *M = dyn_cast<CXXMethodDecl>(F);
    if (M && Name == "now" && M->getParent()->getName().ends_with("_clock"))
      return Clock{NanoOfSecond, NanoOfSecond};
    const auto *Member = dyn_cast<CXXMemberCallExpr>(&Call);
    if (Member && (Name == "count" || Name == "time_since_epoch"))
      return clock(Member->getImplicitObjectArgument(), In, Depth + 1);
    double PerSecond = perSecondOf(Call.getType());
    if (Name == "duration_cast" && PerSecond && Call.getNumArgs() == 1)
      if (auto Of = clock(Call.getArg(0), In, Depth + 1))
        return Clock{PerSecond, std::min(PerSecond, Of->Finest)};
  }
  bool IsGlobal =
      F->getDeclContext()->getRedeclContext()->isTranslationUnit() ||
      isOfStd(*F);
  if (double PerSecond = IsGlobal ? unitOf(Name) : 0)
    return Clock{PerSecond, PerSecond};
  return returned(*F, Depth);
}

std::optional<Clock> ClockTimes::clock(const Expr *E, const Givens &In,
                                       unsigned Depth) const {
  if (Depth > MaxOfTime)
    return std::nullopt;
  E = bare(E);
  TwoSides O = sidesOf(E);
  if (O.Left) {
    auto A = clock(O.Left, In, Depth + 1);
    auto B = O.Kind == BO_Assign ? clock(O.Right, In, Depth + 1)
             : O.Kind == BO_Add || O.Kind == BO_Mul
                 ? clock(O.Right, In, Depth + 1)
                 : std::nullopt;
    if (O.Kind == BO_Assign)
      return B;
    if (O.Kind == BO_Add && A && B)
      return Clock{std::max(A->PerSecond, B->PerSecond),
                   std::max(A->Finest, B->Finest)};
    if (O.Kind == BO_Mul && B)
      std::swap(A, B), std::swap(O.Left, O.Right);
    auto By = A ? number(O.Right) : std::nullopt;
    if (!By || *By <= 0)
      return std::nullopt;
    if (O.Kind == BO_Mul)
      return Clock{A->PerSecond * *By, A->Finest};
    if (O.Kind != BO_Div)
      return std::nullopt;
    double PerSecond = A->PerSecond / *By;
    bool IsWhole = E->getType()->isIntegerType();
    return Clock{PerSecond,
                 IsWhole ? std::min(PerSecond, A->Finest) : A->Finest};
  }
  if (const auto *Call = dyn_cast<CallExpr>(E))
    return called(*Call, In, Depth);
  if (const auto *M = dyn_cast<MemberExpr>(E)) {
    const Givens::Of *Of = In.find(wordOf(M->getBase()));
    StringRef Name = M->getMemberDecl()->getIdentifier()
                         ? M->getMemberDecl()->getName()
                         : StringRef();
    if (Of && Of->Filled && Name == "tv_sec")
      return Clock{1, 1};
    if (Of && Of->Filled && (Name == "tv_nsec" || Name == "tv_usec"))
      return Clock{Of->Filled, Of->Filled};
    return std::nullopt;
  }
  const auto *Ref = dyn_cast<DeclRefExpr>(E);
  const auto *V = dyn_cast_or_null<VarDecl>(Ref ? Ref->getDecl() : nullptr);
  const Givens::Of *Of =
      V && V->hasLocalStorage() && !isa<ParmVarDecl>(V) ? In.find(V) : nullptr;
  if (!Of || Of->Stepped || Of->Values.size() > MaxValues)
    return std::nullopt;
  if (Of->Filled == 1 && V->getType()->isIntegerType())
    return Clock{1, 1};
  std::optional<Clock> All;
  for (const Expr *Value : Of->Values) {
    auto One = clock(Value, In, Depth + 1);
    if (!One)
      return std::nullopt;
    All = All ? Clock{std::max(All->PerSecond, One->PerSecond),
                      std::max(All->Finest, One->Finest)}
              : *One;
  }
  return All;
}

} // namespace linemate
